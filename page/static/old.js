// For browsers that know no JavaScript modules: one message instead of an empty page.
(function () {
  function say() {
    var place = document.getElementById("old");
    place.innerHTML =
      "This browser is too old for the page: it knows no JavaScript modules. Your games are kept.<br>" +
      "Dieser Browser ist zu alt für die Seite: Er kennt keine JavaScript-Module. Ihre Spiele bleiben erhalten.";
    place.removeAttribute("hidden");
  }
  document.addEventListener("DOMContentLoaded", say);
})();
