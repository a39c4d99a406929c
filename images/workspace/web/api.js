import { renewSignIn } from './renew-sign-in.js'
import { fromServer, t } from './ui/i18n.js'

/** Timeouts in ms; uploads may take longer. */
const limits = { answer: 20_000, upload: 600_000 }

/** A refusal of the server, with its sentence. */
export class ApiError extends Error {
  /** @param {number} status 0 when there was no answer @param {string} message */
  constructor(status, message) {
    super(message)
    this.name = 'ApiError'
    this.status = status
  }
}

/** @type {(status: number) => void} */
let answered = () => {}

/** @param {(status: number) => void} listener is called with the status of every answer */
export const onAnswer = (listener) => void (answered = listener)

/** @param {string} address relative @returns {Promise<any>} */
export const getJson = (address) => ask(address, {})

/** The files of the home folder, over the API of this container. Every call throws an ApiError when it is refused. */
export const files = {
  /** @param {string} path */
  list: (path) => getJson(`api/files?path=${encodeURIComponent(path)}`),
  /** @param {string} path */
  read: (path) => getJson(fileAddress(path)),
  /** @param {string} path @param {string} content @param {string | undefined} version undefined: whatever is there */
  write: (path, content, version) =>
    ask(fileAddress(path), { method: 'PUT', body: content, headers: version ? { 'if-match': `"${version}"` } : {} }),
  /** @param {string} path @param {Blob | string} content */
  create: (path, content) =>
    ask(fileAddress(path), { method: 'PUT', body: content, headers: { 'if-none-match': '*' } }, limits.upload),
  /** @param {string} path */
  createFolder: (path) => ask(`api/folder?path=${encodeURIComponent(path)}`, { method: 'POST' }),
  /** @param {string} from @param {string} to */
  move: (from, to) => ask('api/move', { method: 'POST', body: JSON.stringify({ from, to }) }),
  /** @param {string} path */
  remove: (path) => ask(fileAddress(path), { method: 'DELETE' }),
}

/** @param {string} path */
const fileAddress = (path) => `api/file?path=${encodeURIComponent(path)}`

/**
 * @param {string} address
 * @param {RequestInit} options
 * @param {number} [limit]
 * @returns {Promise<any>}
 */
async function ask(address, options, limit = limits.answer) {
  const headers = { accept: 'application/json', 'content-type': 'application/octet-stream', ...options.headers }
  const send = () => fetch(address, { ...options, headers, signal: AbortSignal.timeout(limit) }).catch(() => undefined)
  let response = await send()
  if (response?.status === 401 && (await renewSignIn())) response = await send()
  if (!response) throw new ApiError(0, t('The container does not answer. It may be stopped, or you are offline.'))
  answered(response.status)
  const body = await response.json().catch(() => ({}))
  if (!response.ok) {
    const words =
      body.error === undefined ? t('The answer was {status}.', { status: response.status }) : fromServer(body.error)
    throw new ApiError(response.status, words)
  }
  return body
}
