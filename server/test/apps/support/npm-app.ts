import { runProgram } from './run-program.ts'

const quiet = ['--no-audit', '--no-fund', '--loglevel=error']

/**
 * Completes a recipe with the packages of its lock file. Without install scripts, as everywhere in this repository: what an
 * app needs has to come as a ready binary.
 * @param verb `ci`, or `install` for a lock file of somebody else's that does not name every package
 */
export async function installPackages(folder: string, verb: 'ci' | 'install' = 'ci'): Promise<void> {
  await runProgram('npm', [verb, '--ignore-scripts', '--omit=dev', ...quiet], folder)
}
