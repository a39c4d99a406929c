/**
 * The values of `node:http` that a long-running process needs. An ES module that imports them by name makes Node read
 * every export, among them `WebSocket`, and for that one load its own copy of undici: 9 to 13 MB in each process.
 */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http')

/**
 * How often a server of Node looks for requests that are over their time, in ms. Node's 30 s add up to 30 s to each time limit: a
 * head that comes byte by byte kept a connection of the redirect to https for 35 s, where 5 s are allowed.
 */
export const connectionsCheckingInterval = 1_000
