import { echoes } from './echo-script.ts'

/** An image of Berth's own with Node; set-up builds it. */
export const nodeImage = 'berth-demo-dev:latest'

/**
 * An app on port 8080 that opens and closes others: `/open?port=3000&host=127.0.0.1` and `/close?port=3000`. Each of them, the
 * first included, answers with what it received, as `echoes` says.
 */
export const portsApp = { image: nodeImage, port: 8080, memory: '128m', command: ['node', '--eval', echoes] }
