/**
 * A program for `node -e` in a container. It answers `GET /source?bytes=N` with N bytes, `PUT /sink` with how many it got, any
 * other request with its headers, and echoes what comes by a WebSocket in frames of up to 125 bytes.
 */
export const transferApp = `
const http = require('node:http')
const { createHash } = require('node:crypto')
const { Readable } = require('node:stream')
const block = Buffer.alloc(65536, 7)
function* blocks(bytes) {
  for (let left = bytes; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length))
}
const server = http.createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app')
  if (pathname === '/source') {
    const bytes = Number(searchParams.get('bytes'))
    response.writeHead(200, { 'content-length': bytes })
    return Readable.from(blocks(bytes)).pipe(response)
  }
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  response.end(JSON.stringify(pathname === '/sink' ? { bytes } : request.headers))
})
server.requestTimeout = 0
server.on('upgrade', (request, socket) => {
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
  const accept = createHash('sha1').update(key).digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  socket.on('error', () => {})
  socket.on('data', (frame) => {
    if ((frame[0] & 15) === 8) return socket.end()
    const length = frame[1] & 127
    const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, at) => byte ^ frame[2 + (at & 3)]))
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]))
  })
})
server.listen(8080)
`
