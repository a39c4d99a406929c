import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ownHeaders, sendPage } from '../answer.js'
import { listingPage, missingPage, wordsFor } from './listing-pages.js'
import { Refusal, asRefusal } from '../refusal.js'
import { sendFile } from './send-file.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Home } from './home.js' */

/**
 * Serves the home folder as a site: files as they are, `index.html` for a folder, else a list of what is in it.
 * Names that begin with a dot are not served; they are settings and histories, not pages.
 */
export class Site {
  /** @type {Home} */
  #home

  /** @param {Home} home */
  constructor(home) {
    this.#home = home
  }

  /**
   * @param {IncomingMessage} request GET or HEAD
   * @param {ServerResponse} response
   * @param {{ path: string, own: string }} place `path` in the site, still percent-encoded, begins with `/`;
   *   `own` is the way from it to the app's own pages, for links
   */
  async handle(request, response, { path, own }) {
    try {
      await this.#send(request, response, path, own)
    } catch (error) {
      const refusal = asRefusal(error)
      // A forbidden file is answered like a missing one.
      if (!refusal || response.headersSent || ![400, 403, 404].includes(refusal.status)) throw error
      await this.#sayMissing(request, response, own)
    }
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   * @param {string} path
   * @param {string} own
   */
  async #send(request, response, path, own) {
    const name = decode(path)
    if (name.split('/').some((part) => part.startsWith('.') && part !== '.well-known'))
      throw new Refusal(404, 'Not served.')
    const file = await this.#home.locate(name)
    const stats = await stat(file)
    if (stats.isFile() && !name.endsWith('/')) return sendFile(request, response, file)
    if (!stats.isDirectory()) throw new Refusal(404, 'Not served.')
    if (!name.endsWith('/')) return redirectToFolder(response, path)
    const index = join(file, 'index.html')
    if (await isFile(index)) return sendFile(request, response, await this.#home.locate(`${name}index.html`))
    const words = wordsFor(request.headers['accept-language'])
    const { entries, isCut } = await this.#home.list(name)
    const shown = entries.filter((entry) => !entry.name.startsWith('.') && entry.kind !== 'other')
    sendPage(response, 200, listingPage({ name, entries: shown, isCut, own, words }))
  }

  /**
   * With the site's own `404.html` when it has one.
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   * @param {string} own
   */
  async #sayMissing(request, response, own) {
    const page = join(this.#home.root, '404.html')
    if (!(await isFile(page)))
      return sendPage(response, 404, missingPage(own, wordsFor(request.headers['accept-language'])))
    // A condition or range applies to the missing page, not to this one.
    for (const name of ['if-none-match', 'if-modified-since', 'range']) delete request.headers[name]
    await sendFile(request, response, page, { status: 404, headers: { 'cache-control': 'no-store' } })
  }
}

/** @param {string} path */
function decode(path) {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new Refusal(400, 'This address is not encoded properly.')
  }
}

/**
 * Relative, because the gateway removed the prefix.
 * @param {ServerResponse} response
 * @param {string} path
 */
function redirectToFolder(response, path) {
  response.writeHead(307, { ...ownHeaders, location: `./${path.split('/').at(-1)}/` })
  response.end()
}

/** @param {string} path */
async function isFile(path) {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isFile() ?? false
}
