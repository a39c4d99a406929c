/**
 * A small web application that is written well or badly, as `MODE` says; for the tests of `berth templates try`. It runs in a
 * container: Node's own modules alone.
 */
const { createHash } = require('node:crypto')
const { createServer } = require('node:http')

const { MODE, BASE_PATH = '', HOST } = process.env
const startedAt = Date.now()

/** What the first page of a mode has beside its heading. */
const pages = {
  relative: `<script src="app.js"></script><a href="second">Second page</a>${socketTo('"socket"')}`,
  'base-path': `<script src="${BASE_PATH}/app.js"></script><a href="${BASE_PATH}/second">Second page</a>`,
  absolute: '<script src="/app.js"></script><a href="/second">Second page</a>',
  redirect: '<meta http-equiv="refresh" content="0; url=/login">',
  'script-redirect': '<script>location = "/login"</script>',
  socket: socketTo('"/socket"'),
  'late-socket': `<button onclick='${socketTo('"/socket"').replace(/<\/?script>/g, '')}'>Connect</button>`,
  worker: '<script>navigator.serviceWorker.register("/worker.js").catch(() => {})</script>',
  cookie: '<script>document.cookie = "theme=dark; path=/settings"</script>',
  'inner-address': '<script>fetch("http://localhost:8080/app.js").catch(() => {})</script>',
  frame: '<iframe src="framed"></iframe>',
  isolation: '<script>new SharedArrayBuffer(8)</script>',
  empty: '',
}

/** What a mode says about its use, by path. */
const words = {
  kernels: { '/api/kernels': '[]', '/api/terminals': '[]' },
  heartbeat: { '/healthz': '{"status": "alive", "lastHeartbeat": 1790000000000}' },
}

function socketTo(address) {
  return `<script>new WebSocket(new window.URL(${address}, location.href.replace(/^http/, "ws")))</script>`
}

const server = createServer((request, response) => {
  const isBased = MODE === 'base-path'
  const url = request.url.split('?')[0]
  if (isBased && !url.startsWith(`${BASE_PATH}/`)) return end(response, 404, 'text/plain', 'not here')
  const path = isBased ? url.slice(BASE_PATH.length) : url
  if (MODE === 'slow' && Date.now() - startedAt < 4_000) return end(response, 503, 'text/plain', 'not yet')
  const said = words[MODE]?.[path]
  if (said !== undefined) return end(response, 200, 'application/json', said)
  if (path === '/app.js') return end(response, 200, 'text/javascript', 'document.title = "loaded"')
  if (path === '/worker.js') return end(response, 200, 'text/javascript', '')
  if (path.endsWith('/framed')) {
    response.setHeader('x-frame-options', 'DENY')
    return end(response, 200, 'text/html', '<p>Framed</p>')
  }
  if (MODE === 'location' && path.endsWith('/')) {
    response.setHeader('location', `http://${request.headers.host}/login`)
    return end(response, 302, 'text/plain', '')
  }
  if (MODE === 'open-path' && path !== '/lab') return end(response, 404, 'text/plain', 'not found')
  if (MODE === 'isolation') {
    response.setHeader('cross-origin-opener-policy', 'same-origin')
    response.setHeader('cross-origin-embedder-policy', 'require-corp')
  }
  const own =
    MODE === 'mixed'
      ? `<img alt="" src="http://${request.headers.host}${request.headers['x-forwarded-prefix'] ?? ''}/app.js">`
      : ''
  const isAtLogin = path === '/login'
  const heading = MODE === 'empty' ? '' : `<h1>${MODE}</h1>`
  end(
    response,
    200,
    'text/html',
    `<!doctype html><title>Sample</title>${heading}${isAtLogin ? '' : (pages[MODE] ?? '')}${own}`,
  )
})

function end(response, status, type, text) {
  response.writeHead(status, { 'content-type': type }).end(text)
}

server.on('upgrade', (request, socket) => {
  const key = request.headers['sec-websocket-key']
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  socket.on('error', () => undefined)
})

if (MODE === 'ends') throw new Error('a setting is missing')
server.listen(MODE === 'port' ? 3000 : 8080, MODE === 'loopback' ? (HOST ?? '127.0.0.1') : '0.0.0.0')
