'use strict';
// Confirms at once in a browser. A mail scanner that only fetches the page does not run this.
document.getElementById('approve').submit();
