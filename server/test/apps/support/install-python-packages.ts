import { installDebianPackages } from './install-debian-packages.ts'
import { runProgram } from './run-program.ts'

/** Where Python finds them in the image; its recipe sets `PYTHONPATH` to it. */
const target = 'root/usr/local/lib/site-packages'

/**
 * Debian's Python, and beside it packages of Python from the index that this machine's `pip` asks, in the folder `root`.
 * @throws {Error} on a machine without `pip`, or whose Python is another one than Debian's
 */
export async function installPythonPackages(folder: string, names: readonly string[]): Promise<void> {
  await installDebianPackages(folder, ['python3', 'libstdc++6'])
  await runProgram(
    'python3',
    ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--target', target, ...names],
    folder,
  )
}
