/** In the container: `/ticks` sends an event every 50 ms, an upgrade echoes, all else answers "hello". */
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

/** Settings text of one type whose containers `observe.mjs` can watch. */
export const observedTemplates = JSON.stringify({
  dev: {
    display_name: 'Development',
    description: 'Observed during an upgrade',
    image: 'berth-demo-dev:latest',
    command: ['/usr/bin/node', '-e', app],
    port: 8080,
    memory: '128m',
  },
})
