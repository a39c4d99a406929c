import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runProgram } from './run-program.ts'

/**
 * Unpacks Debian packages and all that they need into the folder `root`. The machine's own packages are neither changed nor
 * counted, so no rights are needed: apt keeps its lists in the folder and finds nothing installed.
 * The packages' own scripts are not run.
 * @param release of another Debian, such as `trixie`; the machine's own where it is not given
 * @throws {Error} on a machine without apt, or one whose sources do not have the release
 */
export async function installDebianPackages(folder: string, names: readonly string[], release?: string): Promise<void> {
  const place = (file: string) => path.join(folder, 'apt', file)
  for (const each of ['archives/partial', 'lists/partial']) mkdirSync(place(each), { recursive: true })
  writeFileSync(place('nothing-installed'), '')
  const places = { State: place(''), 'State::status': place('nothing-installed'), Cache: place('') }
  const ofRelease = release === undefined ? {} : sourcesOf(release, place)
  const options = Object.entries({ ...places, ...ofRelease }).flatMap(([key, value]) => ['-o', `Dir::${key}=${value}`])
  const apt = (...words: string[]) => runProgram('apt-get', ['-q', '-y', ...options, ...words], folder)
  await apt('-o', 'APT::Sandbox::User=', 'update')
  await apt('-o', 'APT::Sandbox::User=', '--no-install-recommends', '--download-only', 'install', ...names)
  for (const archive of globSync('apt/archives/*.deb', { cwd: folder }))
    await runProgram('dpkg', ['-x', archive, 'root'], folder)
}

/** Where apt finds the packages of another release: at the mirror that the machine uses for its own. */
function sourcesOf(release: string, place: (file: string) => string): Record<string, string> {
  const file = globSync('/etc/apt/{sources.list,sources.list.d/debian.sources}')
    .map((each) => readFileSync(each, 'utf8'))
    .join('\n')
  const [mirror] = file.match(/https?:\/\/\S+\/debian(?=\s)/) ?? []
  if (mirror === undefined) throw new Error('/etc/apt names no mirror of Debian')
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(place('sources.list'), `deb [signed-by=${key}] ${mirror} ${release} main\n`)
  return { 'Etc::SourceList': place('sources.list'), 'Etc::SourceParts': '-' }
}
