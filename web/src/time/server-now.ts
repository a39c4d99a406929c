import { boot } from '#/api/api-client.ts'

/** The time by the server's clock, in ms since 1970: instants of the API are compared with it, because the browser's clock may be wrong. */
export const serverNow = () => Date.now() + boot.clockAhead
