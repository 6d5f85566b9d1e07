"use strict";
addEventListener("keydown", (event) => {
  const field = document.getElementById("q");
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
