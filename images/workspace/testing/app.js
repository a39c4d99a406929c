import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareWorkspace } from '../../build-demo-images.mjs'
import { assets } from '../../build/workspace.mjs'

/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */
/** @import { AppOptions } from '../app/app.js' */

// Only now can what uses the app's packages be imported: a fresh checkout does not have them.
await prepareWorkspace()
const { App } = await import('../app/app.js')
const { SignJWT, exportJWK, generateKeyPair } = await import('jose')
export const { default: WebSocket } = await import('ws')
export const { Home } = await import('../app/files/home.js')

/**
 * An empty folder that is removed after the test.
 * @param {TestContext} t
 */
export function temporaryFolder(t) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'berth-demo-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * The app on a free port, over an empty home; both are removed after the test.
 * @param {TestContext} t
 * @param {Partial<AppOptions>} [options]
 */
export async function startApp(t, options = {}) {
  const home = temporaryFolder(t)
  const app = new App({ mode: 'workspace', home, assets, env: {}, ...options })
  const server = app.createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(async () => {
    app.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = /** @type {AddressInfo} */ (server.address())
  return { home, port, url: `http://127.0.0.1:${port}` }
}

/**
 * Signing keys like Berth's, and tokens signed with them.
 * @param {string} kid
 */
export async function makeKeys(kid = 'key-1') {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] })
  /** @param {Record<string, unknown>} claims @param {string} lifetime */
  const sign = (claims = {}, lifetime = '5m') =>
    new SignJWT({ sub: '7', is_admin: false, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuedAt()
      .setExpirationTime(lifetime)
      .sign(privateKey)
  return { jwks, sign }
}
