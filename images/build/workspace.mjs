import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf } from './fingerprint.mjs'
import { paths } from './paths.mjs'
import { run } from './run.mjs'

/** @typedef {(line: string) => void} Log */

const isReleased = existsSync(paths.released)

/** Folder of the built pages. */
export const assets = isReleased ? paths.released : join(paths.own, 'assets')

const modules = join(paths.workspace, 'node_modules')

/**
 * The app's packages installed and its pages bundled, unless they are already, from the very files that are there now.
 * The caller holds the lock. A release has both.
 * @param {Log} log
 */
export async function makeWorkspace(log) {
  if (isReleased) return
  await once(join(modules, '.berth-stamp'), hashOf(['workspace/package-lock.json', 'workspace/package.json']), () =>
    install(log),
  )
  const pages = hashOf(['workspace/web', 'workspace/package-lock.json', 'build/workspace.mjs'])
  await once(join(paths.own, 'assets.stamp'), pages, () => bundle(log), existsSync(assets))
}

/**
 * @param {string} stamp file that says for which hash the work was done
 * @param {string} hash
 * @param {() => Promise<void>} work
 * @param {boolean} [isThere]
 */
async function once(stamp, hash, work, isThere = true) {
  if (isThere && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  await work()
  writeFileSync(stamp, hash)
}

/** Without install scripts: the terminal's library and esbuild bring ready binaries. @param {Log} log */
async function install(log) {
  log('installing the packages of the demo app ...')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', args, { cwd: paths.workspace, limitMs: 300_000 })
}

/** One file per page: the editor alone is thirty packages, and a browser would ask for each. @param {Log} log */
async function bundle(log) {
  log('bundling the pages of the demo app ...')
  const fresh = `${assets}-${process.pid}`
  const entries = ['workspace.js', 'request.js', 'workspace.css', 'style.css', 'index.html', 'request.html', 'icon.svg']
  mkdirSync(paths.own, { recursive: true })
  try {
    const args = [join(modules, 'esbuild/bin/esbuild'), ...entries.map((name) => `web/${name}`), `--outdir=${fresh}`]
    const how = ['--bundle', '--minify', '--format=esm', '--target=es2022', '--loader:.html=copy', '--loader:.svg=copy']
    await run(process.execPath, [...args, ...how, '--log-level=error'], { cwd: paths.workspace })
    rmSync(assets, { recursive: true, force: true })
    renameSync(fresh, assets)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/**
 * The packages that the app needs while it runs, as folders below `node_modules`.
 * @returns {string[]}
 */
export function runtimePackages() {
  /** @type {{ packages: Record<string, { dev?: boolean }> }} */
  const lock = JSON.parse(readFileSync(join(paths.workspace, 'package-lock.json'), 'utf8'))
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && !dev && existsSync(join(paths.workspace, path)))
    .map(([path]) => path)
}
