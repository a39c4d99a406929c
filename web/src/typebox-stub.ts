/**
 * Stands in for TypeBox in the browser's bundle (see `vite.config.ts`): whatever schema is asked for is an empty object.
 * The client reads only method and path of an endpoint. Code that looks into a schema does not belong in the front end.
 */
const typeboxStub: unknown = new Proxy({}, { get: () => () => ({}) })

export default typeboxStub
