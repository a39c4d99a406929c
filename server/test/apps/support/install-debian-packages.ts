import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runProgram } from './run-program.ts'

/**
 * Unpacks a Debian package and all that it needs into the folder `root`, without installing anything on this machine: for apt
 * there is no package installed anywhere. Their own scripts are not run.
 */
export async function installDebianPackages(folder: string, name: string): Promise<void> {
  const place = (file: string) => path.join(folder, file)
  mkdirSync(place('archives/partial'), { recursive: true })
  writeFileSync(place('nothing-installed'), '')
  const options = [`Dir::State::status=${place('nothing-installed')}`, `Dir::Cache::archives=${place('archives')}`]
  const flags = ['-q', '-y', '--no-install-recommends', '--download-only', '-o', 'APT::Sandbox::User=root']
  await runProgram('apt-get', [...flags, ...options.flatMap((option) => ['-o', option]), 'install', name], folder)
  for (const archive of globSync('archives/*.deb', { cwd: folder }))
    await runProgram('dpkg', ['-x', archive, 'root'], folder)
}
