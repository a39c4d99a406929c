import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeApp, makeSystem } from './root-file-system.mjs'
import { run } from './run.mjs'

/** @import { Programs } from './programs.mjs' */

/** The user's id in the container; a fresh volume takes over the owner of the folder that it is mounted on. */
const user = 1000

/** Timestamps in a layer would make each build different. */
const sameEachTime = [
  '--sort=name',
  '--mtime=@1767225600',
  '--numeric-owner',
  '--format=pax',
  '--pax-option=delete=atime,delete=ctime',
]

/**
 * Writes what `docker save` would write: two images of two layers each, which they share. An engine loads it without a
 * builder, a registry or a network, and whether it is old or new, Docker or Podman.
 * @param {string} folder empty
 * @param {{ programs: Programs, images: Readonly<Record<string, string>>, content: string }} options `images`: mode by tag
 * @returns {Promise<string[]>} names of the files that make the archive
 */
export async function writeArchive(folder, { programs, images, content }) {
  const layers = [await systemLayer(folder, programs), await appLayer(folder)]
  const created = new Date().toISOString()
  const manifest = Object.entries(images).map(([tag, mode]) => {
    const config = JSON.stringify(imageConfig({ mode, content, created, layers }))
    const name = `${createHash('sha256').update(config).digest('hex')}.json`
    writeFileSync(join(folder, name), config)
    return { Config: name, RepoTags: [tag], Layers: layers.map(({ file }) => file) }
  })
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  return ['manifest.json', ...manifest.map(({ Config }) => Config), ...layers.map(({ file }) => file)]
}

/** @param {string} folder @param {Programs} programs */
async function systemLayer(folder, programs) {
  const root = join(folder, 'system')
  mkdirSync(join(root, 'own/home/berth'), { recursive: true })
  mkdirSync(join(root, 'shared/tmp'), { recursive: true })
  mkdirSync(join(root, 'shared/var/tmp'), { recursive: true })
  await makeSystem(join(root, 'root'), programs)
  const tar = join(folder, 'system.tar')
  await pack(tar, '--create', join(root, 'root'), ['.'], ['--owner=0', '--group=0', '--mode=u+rwX,go+rX,go-w'])
  await pack(tar, '--append', join(root, 'shared'), ['tmp', 'var/tmp'], ['--owner=0', '--group=0', '--mode=1777'])
  await pack(
    tar,
    '--append',
    join(root, 'own/home'),
    ['berth'],
    [`--owner=${user}`, `--group=${user}`, '--mode=0755', '--transform=s,^,home/,'],
  )
  return { file: 'system.tar', diffId: await digest(tar), about: "node and its libraries, busybox: the machine's own" }
}

/** @param {string} folder */
async function appLayer(folder) {
  const root = join(folder, 'app')
  mkdirSync(root)
  makeApp(root)
  const tar = join(folder, 'app.tar')
  await pack(tar, '--create', root, ['.'], ['--owner=0', '--group=0', '--mode=u+rwX,go+rX,go-w'])
  return { file: 'app.tar', diffId: await digest(tar), about: 'the demo app' }
}

/**
 * @param {string} file
 * @param {'--create' | '--append'} verb
 * @param {string} folder
 * @param {readonly string[]} names
 * @param {readonly string[]} options
 */
const pack = (file, verb, folder, names, options) =>
  run('tar', [verb, `--file=${file}`, ...sameEachTime, ...options, `--directory=${folder}`, ...names])

/** @param {string} file */
async function digest(file) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1_048_576 }), hash)
  return `sha256:${hash.digest('hex')}`
}

/**
 * OCI image configuration (image-spec, config.md).
 * @param {{ mode: string, content: string, created: string, layers: readonly { diffId: string, about: string }[] }} options
 */
function imageConfig({ mode, content, created, layers }) {
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: '/home/berth',
    USER: 'berth',
    LANG: 'C.UTF-8',
    MODE: mode,
  }
  return {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    created,
    config: {
      User: `${user}:${user}`,
      WorkingDir: '/home/berth',
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      Cmd: ['/usr/bin/node', '/opt/berth/app/main.js'],
      ExposedPorts: { '8080/tcp': {} },
      Labels: { 'berth.content': content },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ about }) => ({ created, created_by: about })),
  }
}
