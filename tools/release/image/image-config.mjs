import { debianNames } from '../debian-names.mjs'
import { imageUser } from './image-root.mjs'

/** @import { ReleaseContext } from '../release-context.mjs' */
/** @import { Arch } from '../registry-package.mjs' */
/** @import { Layer } from './make-image.mjs' */

/** Of the health check, in ns as Docker wants them. */
const second = 1_000_000_000
const health = {
  Test: ['CMD', '/usr/lib/berth/health'],
  Interval: 30 * second,
  Timeout: 5 * second,
  StartPeriod: 30 * second,
  Retries: 3,
}

/** @param {ReleaseContext} release */
const labelsOf = ({ version, commit, epoch }) => ({
  'org.opencontainers.image.title': 'Berth',
  'org.opencontainers.image.description': 'Self-hosted container launch service',
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.revision': commit,
  'org.opencontainers.image.created': new Date(epoch * 1000).toISOString(),
  'org.opencontainers.image.licenses': 'Apache-2.0',
})

/**
 * OCI image configuration (image-spec, config.md), and Docker's health check in it.
 * @param {ReleaseContext} release
 * @param {Arch} arch
 * @param {readonly Layer[]} layers
 */
export function imageConfig(release, arch, layers) {
  const created = new Date(release.epoch * 1000).toISOString()
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    LANG: 'C.UTF-8',
    HOST: '0.0.0.0',
    DATA_DIR: '/var/lib/berth',
    BERTH_CACHE_DIR: '/var/cache/berth',
  }
  return {
    architecture: debianNames[arch],
    // 64-bit ARM is the eighth version; image-spec, image-index.md.
    ...(arch === 'arm64' ? { variant: 'v8' } : {}),
    os: 'linux',
    created,
    config: {
      User: `${imageUser}:${imageUser}`,
      WorkingDir: '/usr/lib/berth',
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      Entrypoint: ['/usr/bin/berth'],
      Cmd: ['start'],
      ExposedPorts: { '8080/tcp': {} },
      Volumes: { '/var/lib/berth': {} },
      StopSignal: 'SIGTERM',
      Healthcheck: health,
      Labels: labelsOf(release),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ about }) => ({ created, created_by: about })),
  }
}
