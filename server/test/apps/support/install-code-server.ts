import path from 'node:path'
import { installPackages } from './npm-app.ts'

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
