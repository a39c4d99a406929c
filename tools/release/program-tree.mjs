import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import {
  compileContainerTool,
  compilerFor,
  containerToolFile,
  needCrossCompiler,
} from '../setup/build/container-tool.mjs'
import { needAddonCompiler } from '../setup/build/ssh-addon.mjs'
import { provide, refuseUnlessProvidable } from '../setup/machine.mjs'
import { run } from '../setup/run.mjs'
import { createSetupContext } from '../setup/setup-context.mjs'
import { productionPackages } from './production-packages.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */

const files = join(import.meta.dirname, 'files')

/**
 * Not needed while a package runs on Node, which runs no TypeScript below `node_modules`; `prebuilds` are native code for another
 * runtime (Bare). Licences stay.
 */
const developerFolders = /^(prebuilds|test|tests|__tests__|docs?|examples?|bench|benchmarks?|\.github|\.nyc_output)$/
const developerFiles = /\.([cm]?ts|map|md|flow|tsbuildinfo)$/
const licence = /^(licen[cs]e|notice|copying)/i

/** Every workspace whose sources a program runs; an old version lacks some. */
const workspaces = ['server', 'gateway', 'cli', 'texts', 'api']

/** Of the front end the server imports these two sources; all else is in its build. */
const webSources = ['paths.ts', 'safe-next.ts']

/** Of `images/`; a checkout of an old version may lack some. */
const demoSources = [
  'build-demo-images.mjs',
  // Its name before 1.0.0.
  'build.mjs',
  'ensure.mjs',
  'build',
  'workspace/app',
  'workspace/examples',
  'workspace/package.json',
  'workspace/package-lock.json',
]

/** Packages with so many generated modules that one file of them is 20 MB smaller. */
const generatedPackages = ['@kubernetes/client-node']

/** Of this version, also for the program of an old one, whose own are elsewhere. */
const bundlers = join(import.meta.dirname, '../setup/build')

/** What the image builder needs beside `images/`. */
const setupModules = ['run.mjs', 'problem.mjs']

/**
 * Makes the folder that every artefact contains: program, production packages, built front end, bundle of the API process,
 * demo apps and manual. Node is added for each kind of machine, and the native code of packages replaced: the demo app's terminal, and the
 * ciphers of the SSH server. The tool for containers is compiled for both kinds.
 * @param {ReleaseContext} release
 * @returns {Promise<string>} the folder; files are as in the commit, or built from it
 * @throws {SetupProblem} with the output of a build that failed
 */
export async function makeProgramTree(release) {
  const { root, work } = release
  const tree = join(work, 'program')
  rmSync(tree, { recursive: true, force: true })
  mkdirSync(tree, { recursive: true })
  copySources(root, tree)
  copyPackages(root, tree)
  await build(release, ['node_modules/vite/bin/vite.js', 'build', 'web', '--outDir', join(tree, 'web/dist')])
  const program = programsOf(root)
  await build(release, [join(bundlers, 'bundle-program.mjs'), program.api, join(tree, '.berth/server')])
  for (const name of readdirSync(join(tree, '.berth/server')).filter((each) => each.endsWith('.map')))
    rmSync(join(tree, '.berth/server', name))
  for (const name of generatedPackages.map((each) => join(tree, 'node_modules', each)).filter(existsSync))
    await build(release, [join(bundlers, 'bundle-package.mjs'), name])
  await compileContainerTools(release, tree)
  copyDemoApps(root, tree)
  await copyManual(release, tree)
  copyStartScript(root, tree)
  normalizeModes(tree)
  return tree
}

/**
 * The manual, and what its pages lead to in `deploy/`. The pages come without pictures: those that are written by hand, and those of the reference, which are made from the code.
 * An old version has the latter among its files.
 * @param {ReleaseContext} release
 * @param {string} tree
 */
export async function copyManual(release, tree) {
  const { root } = release
  for (const name of readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.md')) {
      mkdirSync(dirname(join(tree, 'docs', name)), { recursive: true })
      copyFileSync(join(root, 'docs', name), join(tree, 'docs', name))
    }
  for (const name of ['README.md', 'SECURITY.md', 'CONTRIBUTING.md'].filter((each) => existsSync(join(root, each))))
    copyFileSync(join(root, name), join(tree, name))
  // Pages lead to files of these folders.
  const deploy = join(root, 'deploy')
  if (existsSync(deploy)) cpSync(deploy, join(tree, 'deploy'), { recursive: true })
  if (!programsOf(root).isOld) await build(release, ['server/reference/generate.ts', join(tree, 'docs')])
}

/**
 * The tool that is put into containers, for both kinds of machine in every artefact: the engine may be on another one. An old version
 * has none.
 * @param {ReleaseContext} release @param {string} tree @throws {SetupProblem} without a compiler for each of them
 */
async function compileContainerTools({ root, work, env }, tree) {
  if (!existsSync(join(root, 'container-tool'))) return
  const kinds = /** @type {const} */ (['x64', 'arm64'])
  const here = createSetupContext(root, process.env)
  const missing = kinds
    .flatMap((arch) => [needCrossCompiler(arch, env), needAddonCompiler(arch, env)])
    .filter((need) => need !== undefined)
  await provide(here, refuseUnlessProvidable(here, missing))
  for (const arch of kinds) {
    const target = containerToolFile(join(tree, '.berth'), arch)
    const compiler = compilerFor(arch, env) ?? ''
    await compileContainerTool({ root, compiler, target, log: join(work, 'build.log') })
  }
}

/**
 * Where the programs of a checkout are: before 1.0.0 the gateway and the command line were folders of `server/src`.
 * @param {string} root
 */
function programsOf(root) {
  const isOld = existsSync(join(root, 'server/src/main.ts'))
  return isOld
    ? { isOld, api: 'server/src/api-process.ts', workspace: 'server' }
    : { isOld, api: 'server/src/start/api-process.ts', workspace: 'cli' }
}

/** @param {string} root @param {string} tree */
function copyStartScript(root, tree) {
  copyFileSync(join(files, 'berth'), join(tree, 'berth'))
  if (!programsOf(root).isOld) return
  const script = readFileSync(join(files, 'berth'), 'utf8')
  writeFileSync(
    join(tree, 'berth'),
    script.replaceAll('gateway/src/', 'server/src/').replaceAll('cli/src/', 'server/src/cli/'),
  )
}

/** @param {string} root @param {string} tree */
function copySources(root, tree) {
  const isSource = (/** @type {string} */ path) => !path.endsWith('.test.ts')
  const folders = [...workspaces.map((name) => `${name}/src`), 'templates']
  for (const folder of folders.filter((each) => existsSync(join(root, each))))
    cpSync(join(root, folder), join(tree, folder), { recursive: true, filter: isSource })
  mkdirSync(join(tree, 'web/src'), { recursive: true })
  for (const name of webSources.filter((each) => existsSync(join(root, 'web/src', each))))
    copyFileSync(join(root, 'web/src', name), join(tree, 'web/src', name))
  const manifests = ['', ...workspaces.map((name) => `${name}/`), 'web/']
    .map((folder) => `${folder}package.json`)
    .filter((name) => existsSync(join(root, name)))
  for (const name of [...manifests, 'package-lock.json', 'LICENSE', 'CHANGELOG.md'])
    copyFileSync(join(root, name), join(tree, name))
}

/** @param {string} root @param {string} tree */
function copyPackages(root, tree) {
  const packages = productionPackages(root, programsOf(root).workspace, (name) => name === '@berth/web').map(
    ([path]) => path,
  )
  for (const path of packages.filter((each) => each.startsWith('node_modules/')))
    copyPackage(join(root, path), join(tree, path))
  mkdirSync(join(tree, 'node_modules/@berth'))
  for (const name of [...workspaces, 'web'].filter((each) => existsSync(join(tree, each))))
    symlinkSync(`../../${name}`, join(tree, 'node_modules/@berth', name))
}

/** @param {string} from @param {string} to */
function copyPackage(from, to) {
  if (!existsSync(from)) return
  for (const { name } of readdirSync(from, { withFileTypes: true }).filter((entry) => isShipped(entry)))
    cpSync(join(from, name), join(to, name), {
      recursive: true,
      filter: (path) => licence.test(path.slice(path.lastIndexOf('/') + 1)) || !developerFiles.test(path),
    })
}

/** Packages inside a package are listed themselves. @param {import('node:fs').Dirent} entry of the top of a package */
const isShipped = (entry) =>
  !(entry.isDirectory() && (entry.name === 'node_modules' || developerFolders.test(entry.name)))

/** The demo images are built on the operator's machine, from these files, its BusyBox and Node. @param {string} root @param {string} tree */
function copyDemoApps(root, tree) {
  const from = join(root, 'images')
  const to = join(tree, 'images')
  for (const name of demoSources.filter((each) => existsSync(join(from, each))))
    cpSync(join(from, name), join(to, name), { recursive: true, filter: (path) => !/\.test\.m?js$/.test(path) })
  for (const [path, { dev }] of productionPackages(join(from, 'workspace'), ''))
    if (path !== '' && !dev && existsSync(join(from, 'workspace', path)))
      copyPackage(join(from, 'workspace', path), join(to, 'workspace', path))
  const pages = join(root, '.berth/images/assets')
  if (existsSync(pages)) cpSync(pages, join(to, 'assets'), { recursive: true })
  mkdirSync(join(tree, 'tools/setup'), { recursive: true })
  for (const name of setupModules) copyFileSync(join(root, 'tools/setup', name), join(tree, 'tools/setup', name))
}

/** @param {ReleaseContext} release @param {readonly string[]} args */
const build = ({ root, work, env }, args) =>
  run(process.execPath, args, { log: join(work, 'build.log'), cwd: root, env })

/** Modes of a checkout depend on the umask. @param {string} path */
export function normalizeModes(path) {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return
  chmodSync(path, stats.isDirectory() || (stats.mode & 0o111) !== 0 ? 0o755 : 0o644)
  if (stats.isDirectory()) for (const name of readdirSync(path)) normalizeModes(join(path, name))
}
