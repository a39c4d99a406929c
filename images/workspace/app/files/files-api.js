import { isUtf8 } from 'node:buffer'
import { sendJson } from '../answer.js'
import { Refusal } from '../refusal.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Home } from './home.js' */

/**
 * @typedef {(home: Home, request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => Promise<void>} FileHandler
 */

/** Max bytes of a file in the editor, of an upload, and of the JSON of a command. */
export const limits = { edit: 5_000_000, upload: 100_000_000, command: 64_000 }

/** The file operations of the page; `path` is relative to the home folder. */
export const fileRoutes = /** @type {const} */ ({
  'GET /api/files': list,
  'GET /api/file': read,
  'PUT /api/file': write,
  'DELETE /api/file': remove,
  'POST /api/folder': createFolder,
  'POST /api/move': move,
})

/** @type {FileHandler} */
async function list(home, _request, response, query) {
  const { entries, isCut } = await home.list(query.get('path') ?? '')
  sendJson(response, 200, { entries, is_cut: isCut })
}

/** @type {FileHandler} */
async function read(home, _request, response, query) {
  const path = pathOf(query)
  const { content, version } = await home.read(path, limits.edit)
  // A NUL is valid UTF-8, but no text has one.
  if (!isUtf8(content) || content.includes(0)) throw new Refusal(415, 'This is not a text file.')
  sendJson(response, 200, { path, content: content.toString(), version }, { etag: `"${version}"` })
}

/**
 * The conditions are HTTP's own (RFC 9110, 13.1): `If-Match: "version"` changes what the writer has seen,
 * `If-None-Match: *` makes a new file.
 * @type {FileHandler}
 */
async function write(home, request, response, query) {
  const options = {
    limit: limits.upload,
    expected: request.headers['if-match']?.replaceAll('"', ''),
    isNew: request.headers['if-none-match'] === '*',
  }
  const { version, size } = await home.write(pathOf(query), bodyOf(request), options)
  sendJson(response, options.isNew ? 201 : 200, { version, size }, { etag: `"${version}"` })
}

/** @type {FileHandler} */
async function createFolder(home, _request, response, query) {
  await home.createFolder(pathOf(query))
  sendJson(response, 201, { path: pathOf(query) })
}

/** @type {FileHandler} */
async function move(home, request, response) {
  const { from, to } = await commandOf(request)
  if (typeof from !== 'string' || typeof to !== 'string') throw new Refusal(400, 'Send {"from": "...", "to": "..."}.')
  await home.move(from, to)
  sendJson(response, 200, { path: to })
}

/** @type {FileHandler} */
async function remove(home, _request, response, query) {
  await home.remove(pathOf(query))
  sendJson(response, 200, { path: pathOf(query) })
}

/** @param {URLSearchParams} query */
function pathOf(query) {
  const path = query.get('path')
  if (!path) throw new Refusal(400, 'Say which file: ?path=...')
  return path
}

/**
 * Keeps the connection open when reading stops early, so that the refusal can still be sent.
 * @param {IncomingMessage} request
 * @returns {AsyncIterable<Buffer>}
 */
const bodyOf = (request) => request.iterator({ destroyOnReturn: false })

/**
 * @param {IncomingMessage} request
 * @returns {Promise<Record<string, unknown>>}
 */
async function commandOf(request) {
  const chunks = []
  let size = 0
  for await (const chunk of bodyOf(request)) {
    size += chunk.length
    if (size > limits.command) throw new Refusal(413, `The body is too large: at most ${limits.command} bytes.`)
    chunks.push(chunk)
  }
  try {
    return Object(JSON.parse(Buffer.concat(chunks).toString()))
  } catch {
    throw new Refusal(400, 'The body is not valid JSON.')
  }
}
