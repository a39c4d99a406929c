import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runProgram } from './run-program.ts'

/**
 * Unpacks a Debian package and all that it needs into the folder `root`. Nothing of this machine's own packages is touched or
 * counted, so it takes no rights either: apt keeps its lists beside it, and believes that nothing is installed anywhere.
 * The packages' own scripts are not run. @throws {Error} on a machine without apt
 */
export async function installDebianPackages(folder: string, name: string): Promise<void> {
  const place = (file: string) => path.join(folder, 'apt', file)
  for (const each of ['archives/partial', 'lists/partial']) mkdirSync(place(each), { recursive: true })
  writeFileSync(place('nothing-installed'), '')
  const places = { State: place(''), 'State::status': place('nothing-installed'), Cache: place('') }
  const options = Object.entries(places).flatMap(([key, value]) => ['-o', `Dir::${key}=${value}`])
  const apt = (...words: string[]) => runProgram('apt-get', ['-q', '-y', ...options, ...words], folder)
  await apt('-o', 'APT::Sandbox::User=', 'update')
  await apt('-o', 'APT::Sandbox::User=', '--no-install-recommends', '--download-only', 'install', name)
  for (const archive of globSync('apt/archives/*.deb', { cwd: folder }))
    await runProgram('dpkg', ['-x', archive, 'root'], folder)
}
