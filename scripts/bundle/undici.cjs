// @ts-nocheck undici's own files have no types.
'use strict';
// What src/api/http/transport.ts uses of undici, from its own files: the package's index also loads fetch, WebSocket, caches and
// mocks, which cost 45 ms of every request. Internal paths, hence the exact version in package.json and `unused` in replace.js.
const Agent = require('undici/lib/dispatcher/agent.js');
const send = require('undici/lib/api/api-request.js');

/** undici.request with a dispatcher, which is the only way it is called here. */
function request(url, { dispatcher, ...options }) {
  const { origin, pathname, search } = new URL(url);
  return send.call(dispatcher, { ...options, origin, path: pathname + search });
}

module.exports = { Agent, request };
