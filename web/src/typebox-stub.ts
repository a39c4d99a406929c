/**
 * Replaces TypeBox in the browser's bundle (see `vite.config.ts`): every schema is an empty object. Front-end code
 * never reads a schema; it imports types and constants from the schema modules.
 */
const typeboxStub: unknown = new Proxy({}, { get: () => () => ({}) })

export default typeboxStub
