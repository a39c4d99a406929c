/**
 * The values of `node:http` that a long-running process needs. An ES module that imports them by name makes Node read
 * every export, among them `WebSocket`, and for that one load its own copy of undici: 9 to 13 MB in each process.
 */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http')
