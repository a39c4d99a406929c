import { basename, dirname } from 'node:path'
import send from 'send'
import { Refusal } from '../refusal.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

/** The results of a request's conditions: precondition failed, range not satisfiable. */
const conditions = new Set([412, 416])

/** Source files that the registry of types calls videos or downloads; a workspace shows them as text. */
const readable = /\.(md|[cm]?ts|tsx|py|sh|ya?ml|toml|log)$/i

/**
 * Sends a file: type by name, conditions and ranges as in RFC 9110.
 * @param {IncomingMessage} request GET or HEAD
 * @param {ServerResponse} response
 * @param {string} file absolute, free of links
 * @param {{ headers?: Readonly<Record<string, string>>, status?: number }} [options]
 * @returns {Promise<void>} resolves when it is sent or the reader has gone
 * @throws the file system's error when it cannot be read; nothing is sent then
 */
export function sendFile(request, response, file, { headers = {}, status = 200 } = {}) {
  response.statusCode = status
  for (const [name, value] of Object.entries({ 'x-content-type-options': 'nosniff', ...headers })) {
    response.setHeader(name, value)
  }
  if (readable.test(file)) response.setHeader('content-type', 'text/plain; charset=utf-8')
  return new Promise((resolve, reject) => {
    // `no-cache` asks again each time and is answered 304: a changed file is seen at the next reload.
    send(request, encodeURIComponent(basename(file)), {
      root: dirname(file),
      dotfiles: 'allow',
      index: false,
      cacheControl: !('cache-control' in headers),
      maxAge: 0,
    })
      .on('error', (error) => reject(conditions.has(error.status) ? new Refusal(error.status, error.message) : error))
      .pipe(response)
    response.once('close', resolve)
  })
}
