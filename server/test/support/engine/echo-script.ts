/**
 * Script of servers that answer with port, method, path and headers of a request as JSON; `/slow` sends a line at once and another
 * when it is asked for `/go`, `/body` sends back what it gets, `/cookie` and `/redirect` have headers of their own, and a WebSocket
 * (RFC 6455) gets back the frames that it sends, unmasked.
 */
export const echoes = String.raw`
const http = require('node:http'), crypto = require('node:crypto')
const open = new Map()
let waiting = []
function listen(port, host) {
  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x')
    if (pathname === '/open') return void listen(Number(searchParams.get('port')), searchParams.get('host')).then(() => response.end('open'))
    if (pathname === '/close') {
      const closed = open.get(Number(searchParams.get('port')))
      closed.close(); closed.closeAllConnections()
      return void response.end('closed')
    }
    if (pathname === '/slow') { response.write('first\n'); waiting.push(response); return }
    if (pathname === '/go') { for (const each of waiting.splice(0)) each.end('second\n'); return void response.end('gone') }
    if (pathname === '/body') return void request.pipe(response)
    if (pathname === '/cookie') response.setHeader('set-cookie', ['own=1; Path=/', 'spawner_token=x; Path=/'])
    if (pathname === '/redirect') { response.writeHead(302, { location: '/there' }); return void response.end() }
    if (pathname === '/worker.js') response.setHeader('service-worker-allowed', '/')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ port, method: request.method, path: request.url, headers: request.headers }))
  })
  server.on('upgrade', (request, socket) => {
    const accept = crypto.createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ' + accept + '\r\n\r\n')
    socket.on('error', () => {}).on('data', (frame) => {
      const length = frame[1] & 127, mask = frame.subarray(2, 6)
      const text = Buffer.from(frame.subarray(6, 6 + length)).map((byte, at) => byte ^ mask[at % 4])
      if ((frame[0] & 15) === 1) socket.write(Buffer.concat([Buffer.from([129, length]), text]))
      else socket.end()
    })
  })
  open.set(port, server)
  return new Promise((resolve) => server.listen(port, host, resolve))
}
listen(8080, '0.0.0.0')
`
