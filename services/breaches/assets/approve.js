'use strict';
// Confirms without a click, but not before the reader has seen who asks. A mail scanner that only fetches the
// page does not run this.
const form = document.getElementById('approve');
const left = document.getElementById('left');
let seconds = 5;
const tick = () => {
  left.textContent = `This page approves by itself in ${seconds} s. Close it if you do not want that.`;
  if (seconds === 0) form.submit(); else setTimeout(tick, 1000);
  seconds -= 1;
};
tick();
