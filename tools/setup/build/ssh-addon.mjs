import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../run.mjs'
import { compilerFor } from './container-tool.mjs'
import { readIfThere } from './sources.mjs'

/** @import { Need } from '../machine.mjs' */
/** @import { SetupContext } from '../setup-context.mjs' */
/** @import { Arch } from './container-tool.mjs' */

/** The optional part of the library `ssh2` (MIT), with the header files of `nan` (MIT); both are in package-lock.json. */
const source = 'node_modules/ssh2/lib/protocol/crypto/src/binding.cc'
const headers = 'node_modules/nan'
/** Where the library looks for it. */
export const sshAddonFolder = 'node_modules/ssh2/lib/protocol/crypto/build'
const target = `${sshAddonFolder}/Release/sshcrypto.node`

/** Debian's packages with a compiler for another kind of machine. */
const crossPackages = { x64: ['g++-x86-64-linux-gnu'], arm64: ['g++-aarch64-linux-gnu'] }
/** As the library's own build has them; the hardening is that of the container tool. */
const flags = [
  ...'-std=c++20 -O3 -fPIC -shared -pthread -s -w -fno-rtti -fno-exceptions -fno-strict-aliasing'.split(' '),
  ...'-fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,--build-id=none -Wl,-z,now'.split(' '),
  ...'-DNODE_GYP_MODULE_NAME=sshcrypto -DBUILDING_NODE_EXTENSION -DOPENSSL_API_COMPAT=0x10100000L'.split(' '),
  // Of Node since 17; the add-on asks for what OpenSSL 3 does otherwise.
  '-DREAL_OPENSSL_MAJOR=3',
]

/**
 * A compiler for the add-on of a kind of machine; undefined without one, and on systems whose linker has other options.
 * @param {Arch} arch
 * @param {NodeJS.ProcessEnv} env
 */
export function addonCompilerFor(arch, env) {
  return process.platform === 'linux' ? compilerFor(arch, env, ['g++', 'c++']) : undefined
}

/**
 * What a release lacks for another kind of machine; it is made without, where that cannot be had.
 * @param {Arch} arch
 * @param {NodeJS.ProcessEnv} env
 * @returns {Need | undefined} undefined when it is there
 */
export function needAddonCompiler(arch, env) {
  if (addonCompilerFor(arch, env) !== undefined) return undefined
  return {
    step: 'ssh',
    what: `a C++ compiler for ${arch}, because the ciphers of the SSH server are part of a release`,
    packages: arch === process.arch ? ['g++'] : crossPackages[arch],
    byHand: 'Elsewhere: put that compiler in PATH, named as Debian names it.',
    isOptional: true,
  }
}

/**
 * The header files that come with a program of Node.
 * @param {string} node its path, or a link to it
 * @returns {string | undefined} undefined where there are none, as beside Debian's
 */
export function nodeHeaders(node) {
  const folder = join(dirname(existsSync(node) ? realpathSync(node) : node), '../include/node')
  return existsSync(join(folder, 'node.h')) && existsSync(join(folder, 'openssl/evp.h')) ? folder : undefined
}

/**
 * Compiles the ciphers of the SSH server for this machine, unless that was done from the current sources for the current Node.
 * Copies over SSH are slower without them, and nothing else: so a machine that cannot compile them is no problem, and none is
 * asked to get a compiler for it.
 * @param {SetupContext} here
 */
export async function ensureSshAddon(here) {
  const node = join(here.own, 'node')
  const [compiler, include] = [addonCompilerFor(/** @type {Arch} */ (process.arch), here.env), nodeHeaders(node)]
  if (compiler === undefined || include === undefined || !existsSync(join(here.root, source))) return
  const stamp = join(here.own, 'ssh-addon.sha256')
  const parts = [readFileSync(join(here.root, source), 'utf8'), realpathSync(node), ...flags]
  const hash = createHash('sha256').update(parts.join('\0')).digest('hex')
  if (existsSync(join(here.root, target)) && readIfThere(stamp) === hash) return
  const log = join(here.own, 'ssh-addon.log')
  try {
    await here.during('ssh', 'compiling the ciphers of the SSH server', () =>
      compileSshAddon({ root: here.root, tree: here.root, compiler, include, log }),
    )
    writeFileSync(stamp, hash)
  } catch {
    here.say('ssh', `its ciphers could not be compiled, and those of Node are used (${log})`)
  }
}

/**
 * @param {{ root: string, tree: string, compiler: string, include: string, log: string }} options `root` has the sources, `tree`
 * is the folder whose `node_modules` gets it
 * @throws {SetupProblem} with the compiler's output; what was there stays
 */
export async function compileSshAddon({ root, tree, compiler, include, log }) {
  const file = join(tree, target)
  const fresh = `${file}-${process.pid}`
  mkdirSync(dirname(file), { recursive: true })
  try {
    // By relative paths: the same sources give the same bytes, wherever they are.
    const paths = `-ffile-prefix-map=${include}=node`
    await run(compiler, [...flags, paths, `-I${include}`, `-I${headers}`, '-o', fresh, source], { log, cwd: root })
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
