import { runProgram } from './run-program.ts'
import path from 'node:path'

const quiet = ['--no-audit', '--no-fund', '--loglevel=error']

/**
 * Completes a recipe with the packages of its lock file. Without install scripts, as everywhere in this repository: what an
 * app needs has to come as a ready binary.
 * @param verb `ci`, or `install` for a lock file of a third party that does not name every package
 */
export async function installPackages(folder: string, verb: 'ci' | 'install' = 'ci'): Promise<void> {
  await runProgram('npm', [verb, '--ignore-scripts', '--omit=dev', ...quiet], folder)
}

/**
 * What code-server's own install script does, which is not run: packages of the two folders that it brings with a lock file
 * each. What it would compile is left out: a faster log, and sign-in by Kerberos.
 */
export async function installCodeServer(folder: string): Promise<void> {
  await installPackages(folder)
  const code = path.join(folder, 'node_modules/code-server/lib/vscode')
  await installPackages(code, 'install')
  await installPackages(path.join(code, 'extensions'), 'install')
}
