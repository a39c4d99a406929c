/** Program of a container: `/ticks` sends an event every 50 ms without end, an upgrade echoes, all else answers "hello". */
const app = `
const server = require('node:http').createServer((request, response) => {
  if (request.url !== '/ticks') return response.end('hello')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => response.write('data: .\\n\\n'), 50)
  response.once('close', () => clearInterval(timer))
})
server.on('upgrade', (request, socket) => {
  const sum = require('node:crypto').createHash('sha1')
  const accept = sum.update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  socket.on('error', () => {}).pipe(socket)
})
server.listen(8080)
`

/** Text of a templates file of one type, `dev`, whose containers stream and echo while Berth's processes come and go. */
export const tickingTemplates = JSON.stringify({
  dev: {
    display_name: 'Development',
    description: 'Observed while processes end and start',
    image: 'berth-demo-dev:latest',
    command: ['/usr/bin/node', '-e', app],
    port: 8080,
    memory: '128m',
  },
})

/** A response that does not end. */
export interface EndlessResponse {
  /** Bytes that have arrived. */
  count(): number
  isOver(): boolean
}

/** Reads a response in the background. Never throws: a failure counts as its end. */
export function followResponse(response: Response): EndlessResponse {
  let [count, isOver] = [0, false]
  const read = async () => {
    for await (const chunk of response.body ?? []) count += (chunk as Uint8Array).length
  }
  void read()
    .catch(() => undefined)
    .finally(() => (isOver = true))
  return { count: () => count, isOver: () => isOver }
}
