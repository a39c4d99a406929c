import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findProgram, run } from '../run.mjs'
import { hashOf, readIfThere } from './sources.mjs'

/** @import { Need } from '../machine.mjs' */
/** @import { SetupContext } from '../setup-context.mjs' */
/** @typedef {'x64' | 'arm64'} Arch as Node names it */

const sourceFolder = 'container-tool'

/** What Debian's compilers for a kind of machine are called after. */
const targets = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }
/** Debian's packages with compiler and C library; the library of another kind of machine is a package of its own. */
const crossPackages = {
  x64: ['gcc-x86-64-linux-gnu', 'libc6-dev-amd64-cross'],
  arm64: ['gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross'],
}

/** Warnings are errors in a test, not here: a compiler that is newer than this program has further ones. */
export const warnings =
  '-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wformat=2 -Wnull-dereference'.split(
    ' ',
  )
const flags =
  '-std=c11 -D_GNU_SOURCE -O2 -static -s -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,--build-id=none'.split(' ')

/**
 * A C compiler for the container tool. Without one Berth works, but for what the tool does.
 * @param {SetupContext} here
 * @returns {Promise<Need | undefined>} undefined when it is there
 */
export async function needCompiler(here) {
  if (compilerFor(process.arch, here.env) !== undefined || !isKnown(process.arch)) return undefined
  return {
    step: 'container tool',
    what: 'a C compiler, because the tool that Berth puts into containers is compiled here',
    packages: ['gcc', 'libc6-dev'],
    byHand: 'Elsewhere: put a program called gcc in PATH, with a C library that can be linked statically.',
    isOptional: true,
  }
}

/**
 * What a release needs for another kind of machine.
 * @param {Arch} arch
 * @param {NodeJS.ProcessEnv} env
 * @returns {Need | undefined} undefined when it is there
 */
export function needCrossCompiler(arch, env) {
  if (compilerFor(arch, env) !== undefined) return undefined
  return {
    step: 'container tool',
    what: `a C compiler for ${arch}, because the tool that Berth puts into containers is part of a release`,
    packages: arch === process.arch ? ['gcc', 'libc6-dev'] : crossPackages[arch],
    byHand: `Elsewhere: put a program called ${targets[arch]}-gcc in PATH.`,
  }
}

/** @param {string} arch @returns {arch is Arch} */
const isKnown = (arch) => Object.hasOwn(targets, arch)

/**
 * @param {string} arch
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly [string, string]} names of the machine's own compiler: GNU's, and any
 * @returns {string | undefined} absolute path
 */
export function compilerFor(arch, env, names = ['gcc', 'cc']) {
  if (!isKnown(arch)) return undefined
  const ofTarget = `${targets[arch]}-${names[0]}`
  return findProgram(env, arch === process.arch ? [...names, ofTarget] : [ofTarget])
}

/**
 * Compiles the container tool for this machine into `.berth/container-tool`, unless it was compiled from the current
 * sources.
 * @param {SetupContext} here
 * @throws {SetupProblem} with the compiler's output
 */
export async function ensureContainerTool(here) {
  const [stamp, target] = [join(here.own, 'container-tool.sha256'), containerToolFile(here.own, process.arch)]
  const hash = hashOf(here.root, [sourceFolder]) + flags.join(' ')
  if (existsSync(target) && readIfThere(stamp) === hash) return
  const compiler = compilerFor(process.arch, here.env)
  if (compiler === undefined)
    return here.say('container tool', 'not compiled, for want of a C compiler; further ports of containers need it')
  await here.during('container tool', 'compiling', () =>
    compileContainerTool({ root: here.root, compiler, target, log: join(here.own, 'container-tool.log') }),
  )
  writeFileSync(stamp, hash)
}

/** Where the server looks for it. @param {string} own the folder `.berth` @param {string} arch */
export const containerToolFile = (own, arch) => join(own, 'container-tool', arch, 'berth-tool')

/**
 * Links every C file of the tool into one static program.
 * @param {{ root: string, compiler: string, target: string, log: string, isStrict?: boolean }} options
 * @throws {SetupProblem} with the compiler's output; `target` stays as before
 */
export async function compileContainerTool({ root, compiler, target, log, isStrict = false }) {
  const folder = join(root, sourceFolder)
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.c'))
    .sort()
  const fresh = `${target}-${process.pid}`
  mkdirSync(dirname(target), { recursive: true })
  try {
    const args = [...flags, ...warnings, ...(isStrict ? ['-Werror'] : []), '-o', fresh, ...sources]
    await run(compiler, args, { log, cwd: folder })
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { force: true })
  }
}
