import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The same package under an older version number, from which it is upgraded.
 * @param {import('node:test').TestContext} t
 * @param {string} deb
 * @returns {string} its file, which ends with the test
 */
export function olderPackage(t, deb) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-older-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [tree, file] = [join(folder, 'tree'), join(folder, 'older.deb')]
  execFileSync('dpkg-deb', ['--raw-extract', deb, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 1.0.0~alpha'))
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, file], { stdio: 'ignore' })
  return file
}
