import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { paths } from './paths.mjs'
import { appletsOf, findTerminfo, librariesOf } from './programs.mjs'
import { findProgram, run } from './run.mjs'
import { assets, runtimePackages } from './workspace.mjs'

/** @import { Programs } from './programs.mjs' */

const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** What a login shell says, in the place of BusyBox's own banner, and how it looks. BusyBox reads it for `sh -l`. */
const profile = `export PS1='\\[\\e[36m\\]\\w\\[\\e[0m\\] $ '
alias ll='ls -l' la='ls -la'
[ -n "$BERTH_GREETED" ] || printf '\\033[H\\033[2J%s\\n' "This is your container. It has node and BusyBox; your files in \\$HOME stay. Shift+Escape leaves the terminal."
export BERTH_GREETED=1
`

const etc = {
  passwd:
    'root:x:0:0:root:/root:/bin/sh\nberth:x:1000:1000:Berth:/home/berth:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  group: 'root:x:0:\ntty:x:5:\nberth:x:1000:\nnogroup:x:65534:\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  profile,
}

/**
 * The lower layer: Node, its libraries, a shell. Changes seldom.
 * @param {string} root empty folder that becomes `/`
 * @param {Programs} programs
 */
export async function makeSystem(root, { node, busybox, libraries }) {
  for (const folder of ['dev', 'proc', 'sys', 'run', 'etc', 'bin', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true })
  await copyProgram(node, join(root, 'usr/bin/node'))
  copyInto(busybox, join(root, 'bin/busybox'), 0o755)
  for (const applet of await appletsOf(busybox)) link('/bin/busybox', join(root, applet))
  const addon = join(paths.workspace, `node_modules/@lydell/node-pty-linux-${process.arch}/pty.node`)
  for (const library of new Set([...libraries, ...(await librariesOf(addon))]))
    copyInto(library, join(root, library), 0o755)
  for (const [name, text] of Object.entries(etc)) writeFileSync(join(root, 'etc', name), text)
  if (existsSync(certificates)) copyInto(certificates, join(root, certificates))
  const terminfo = findTerminfo()
  if (terminfo) copyInto(join(terminfo, 'x/xterm-256color'), join(root, 'usr/share/terminfo/x/xterm-256color'))
}

/**
 * The upper layer: the demo app.
 * @param {string} root empty folder that becomes `/`
 */
export function makeApp(root) {
  const own = join(root, 'opt/berth')
  const isShipped = (/** @type {string} */ path) => !/\.(test\.js|d\.[cm]?ts|map|md)$/.test(path)
  cpSync(join(paths.workspace, 'app'), join(own, 'app'), { recursive: true, filter: isShipped })
  cpSync(join(paths.workspace, 'examples'), join(own, 'examples'), { recursive: true })
  cpSync(assets, join(own, 'assets'), { recursive: true })
  for (const path of runtimePackages())
    cpSync(join(paths.workspace, path), join(own, path), { recursive: true, filter: isShipped })
  copyFileSync(join(paths.workspace, 'package.json'), join(own, 'package.json'))
}

/**
 * Without its symbol tables, when the machine has `strip` and the program survives it: 18 MB less.
 * @param {string} from
 * @param {string} to
 */
async function copyProgram(from, to) {
  copyInto(from, to, 0o755)
  const strip = findProgram('strip')
  if (!strip) return
  const stripped = `${to}.stripped`
  try {
    await run(strip, ['-o', stripped, to])
    chmodSync(stripped, 0o755)
    await run(stripped, ['--eval', '0'])
    renameSync(stripped, to)
  } catch {
    rmSync(stripped, { force: true }) // The whole program serves as well, only larger.
  }
}

/**
 * @param {string} from links are followed
 * @param {string} to
 * @param {number} [mode]
 */
function copyInto(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

/**
 * @param {string} target
 * @param {string} path
 */
function link(target, path) {
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) symlinkSync(target, path)
}
