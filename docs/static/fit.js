// A formula that is wider than the page is made smaller, down to a size that can still be read; from
// there on it scrolls. In a table that is wider than the page, names in code may be broken.
const LEAST = 0.5;
function fit() {
  for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
    let size = 1;
    formula.style.fontSize = "";
    for (let k = 0; k < 9 && size > LEAST; ++k) {     // numbers of equations do not shrink as much
      const box = formula.parentElement, ratio = box.clientWidth / box.scrollWidth;
      if (ratio >= 1) break;
      size = Math.max(0.99 * ratio * size, LEAST);
      formula.style.fontSize = `${100 * size}%`;
    }
  }
  for (const box of document.querySelectorAll(".table-wrapper:not(.crowded)")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    box.classList.add("crowded");
    for (const name of box.querySelectorAll("code .pre"))
      name.innerHTML = name.innerHTML.replace(/[_/.=]/g, "$&<wbr>");
  }
}
addEventListener("load", () => {
  const drawn = window.MathJax && MathJax.startup && MathJax.startup.promise;
  Promise.resolve(drawn).then(fit);
});
addEventListener("resize", fit);
