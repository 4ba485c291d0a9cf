'use strict';
// Submits the form without a click after the reader had time to see who requests the approval. A mail scanner
// that only fetches the page does not run this script.
const form = document.getElementById('approve');
const left = document.getElementById('left');
let seconds = 5;
const tick = () => {
  left.textContent = `This page sends the approval in ${seconds} s. Close it if you do not want that.`;
  if (seconds === 0) form.submit(); else setTimeout(tick, 1000);
  seconds -= 1;
};
tick();
