// @ts-nocheck undici's own files have no types.
'use strict';
// What src/api/http/route.ts uses of undici, from its own files: the package's index also loads fetch, WebSocket,
// caches and mocks, which cost 45 ms of every request. Internal paths, hence the exact version in package.json and
// `unused` in replace.js.
module.exports = {
  Client: require('undici/lib/dispatcher/client.js'),
  buildConnector: require('undici/lib/core/connect.js'),
};
