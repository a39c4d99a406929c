import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { librariesOf } from '../../../images/build/programs.mjs'
import { SetupProblem } from '../../setup/problem.mjs'

/** @import { DebianPackage } from '../sbom.mjs' */

/**
 * Where files of the image's lower layer are from: this machine, or packages of Debian for another kind of machine.
 * @typedef {object} SystemFiles
 * @property {string} loader path in the image of what loads shared libraries
 * @property {(name: string) => string} program file of a program
 * @property {(file: string) => Promise<[string, string][]>} libraries of a program or library: path in the image, and file
 * @property {(files: readonly string[]) => DebianPackage[]} packages that the files are of
 */

/** @type {SystemFiles} */
export const machineFiles = {
  loader: '/lib64/ld-linux-x86-64.so.2',
  program: findProgram,
  libraries: async (file) => (await librariesOf(file)).map((path) => [path, path]),
  packages: packagesOf,
}

/** @param {string} name */
function findProgram(name) {
  const found = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (found === undefined)
    throw new SetupProblem(`The image needs ${name}: apt-get install ${name === 'busybox' ? 'busybox-static' : name}`)
  return realpathSync(found)
}

/** @param {readonly string[]} files @returns {DebianPackage[]} */
function packagesOf(files) {
  const text = files.map(ownerOf).filter((name) => name !== undefined)
  return [...new Set(text)].sort().map((name) => {
    const version = execFileSync('dpkg-query', ['--show', '--showformat=${Version}', name], { encoding: 'utf8' })
    return { name: name.replace(/:.*/, ''), version }
  })
}

/** A merged /usr has files that dpkg knows without it. @param {string} path */
function ownerOf(path) {
  const real = realpathSync(path)
  for (const name of [real, real.replace(/^\/usr/, ''), path]) {
    try {
      return execFileSync('dpkg-query', ['--search', name], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).split(': ')[0]
    } catch {
      continue
    }
  }
  return undefined
}
