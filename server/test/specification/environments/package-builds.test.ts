// Part of npm run test:long: installs a Debian by debootstrap, and asks the registries of Debian and of npm.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { askEngine } from '#test/support/engine/engine.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'
import { startGitServer } from '#test/support/git-server.ts'

/**
 * Packages of apt, pip and npm on a real base, through the network of containers. The base has an index of Python
 * packages as files, because machines of tests need not reach that of Python.
 */
const base = 'berth-test-debian:2'
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** A Debian, once per machine; with the certificates of this machine, whose registries may be behind its own. */
async function ensureBase(): Promise<void> {
  const exists = await askEngine('GET', `/images/${base}/json`).then(
    () => true,
    () => false,
  )
  if (exists) return
  if (!existsSync('/usr/sbin/debootstrap')) execFileSync('apt-get', ['install', '-y', 'debootstrap'])
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-debian-'))
  const root = path.join(folder, 'root')
  try {
    execFileSync('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', root])
    copyFileSync(certificates, path.join(root, certificates))
    addPythonIndex(root)
    addNpm(root)
    const archive = path.join(folder, 'root.tar')
    execFileSync('tar', ['-c', '-C', root, '--exclude=./proc/*', '--exclude=./sys/*', '-f', archive, '.'])
    const [repo, tag] = base.split(':')
    const call = `http://engine/images/create?fromSrc=-&repo=${repo}&tag=${tag}`
    const socket = ['--unix-socket', '/var/run/docker.sock']
    execFileSync('curl', ['--silent', '--fail', ...socket, '-X', 'POST', '-T', archive, call])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An index of one package as files (PEP 503), which pip of the base asks in place of the network. */
function addPythonIndex(root: string): void {
  const made = path.join(root, 'srv/python/simple/berth-sample')
  const info = path.join(made, 'berth_sample-1.0.dist-info')
  mkdirSync(info, { recursive: true })
  writeFileSync(path.join(made, 'berth_sample.py'), 'words = "from the index"\n')
  writeFileSync(path.join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: berth-sample\nVersion: 1.0\n')
  writeFileSync(
    path.join(info, 'WHEEL'),
    'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  )
  const names = ['berth_sample.py', ...['METADATA', 'WHEEL', 'RECORD'].map((name) => `${path.basename(info)}/${name}`)]
  writeFileSync(path.join(info, 'RECORD'), names.map((name) => `${name},,\n`).join(''))
  const wheel = 'berth_sample-1.0-py3-none-any.whl'
  execFileSync('python3', ['-m', 'zipfile', '-c', wheel, 'berth_sample.py', path.basename(info)], { cwd: made })
  rmSync(info, { recursive: true })
  writeFileSync(path.join(made, 'index.html'), `<a href="${wheel}">${wheel}</a>\n`)
  writeFileSync(path.join(root, 'etc/pip.conf'), '[global]\nindex-url = file:///srv/python/simple\n')
}

/** Node and npm of this machine: Debian's npm is 400 packages. */
function addNpm(root: string): void {
  const modules = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim()
  copyFileSync(process.execPath, path.join(root, 'usr/bin/node'))
  cpSync(path.join(modules, 'npm'), path.join(root, 'usr/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(root, 'usr/bin/npm'))
  writeFileSync(path.join(root, 'etc/npmrc'), '')
  writeFileSync(path.join(root, 'usr/lib/node_modules/npm/npmrc'), `prefix=/usr/local\ncafile=${certificates}\n`)
}

await ensureBase()
const { ask, make, build } = await startEnvironmentBerth(
  { after },
  { env: { BUILD_MEMORY: '512m', BUILD_TIMEOUT: '500' } },
)

test('packages of apt, pip and npm are added, and their programs run', { timeout: 600_000 }, async () => {
  await make('tools', {
    base,
    apt: ['jq', 'python3-pip'],
    pip: ['berth-sample==1.0'],
    npm: ['is-odd@3.0.1'],
    run: [
      'jq --version',
      'python3 -c "import berth_sample; print(berth_sample.words)"',
      'NODE_PATH=/usr/local/lib/node_modules node -p "require(\'is-odd\')(3)"',
    ],
  })
  const { error, state, size } = await build('tools', 500_000)
  const log = (await ask('GET', '/tools/versions/1/log')).text
  assert.equal(error, null, log.slice(-3_000))
  assert.equal(state, 'ready')
  assert.ok((size ?? 0) > 50_000_000)
  assert.match(log, /^jq-1\./m)
  assert.match(log, /^from the index$/m)
  assert.match(log, /^true$/m)
})

test(
  'what a repository asks for by apt.txt, requirements.txt and package.json is added',
  { timeout: 600_000 },
  async () => {
    const repository = await startGitServer({ after })
    writeFileSync(path.join(repository.folder, 'apt.txt'), 'jq\npython3-pip # for the next file\n')
    writeFileSync(path.join(repository.folder, 'requirements.txt'), 'berth-sample\n')
    writeFileSync(path.join(repository.folder, 'package.json'), '{"name":"x","dependencies":{"is-odd":"3.0.1"}}')
    repository.commit()
    await make('repository', { git: repository.url, base })
    const { error } = await build('repository', 500_000)
    const log = (await ask('GET', '/repository/versions/1/log')).text
    assert.equal(error, null, log.slice(-3_000))
    assert.match(log, /Found apt\.txt, requirements\.txt, package\.json/)
    assert.match(log, /Successfully installed berth-sample-1\.0/)
    assert.match(log, /added \d+ packages/)
  },
)
