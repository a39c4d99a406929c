import type { Loot, Outcome } from './attack-attempt.ts'
import type { AttackInstallation } from './attack-installation.ts'

/** Numbers of `linux/capability.h` that Berth grants: see docs/how-to/harden-containers.md. */
const granted = new Map([
  [0, 'CHOWN'],
  [1, 'DAC_OVERRIDE'],
  [3, 'FOWNER'],
  [4, 'FSETID'],
  [5, 'KILL'],
  [6, 'SETGID'],
  [7, 'SETUID'],
  [10, 'NET_BIND_SERVICE'],
])

const lastCapability = 40

/** Files by which root in a container would be root on the host. They are opened, not written to. */
const writing = [
  '/proc/sysrq-trigger',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/sys/kernel/uevent_helper',
  '/sys/fs/cgroup/release_agent',
  '/dev/mem',
  '/dev/sda',
  '/dev/vda',
  '/dev/nvme0n1',
]
const reading = ['/dev/kmsg', '/proc/kcore', '/dev/sda', '/dev/vda', '/dev/nvme0n1', '/dev/mem']

/** Rights beyond those of an ordinary container. */
export async function gainRights(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const { status } = await installation.order<{ status: string }>({ verb: 'describe' }, signal)
  const opened = await installation.order<{ reading: string[]; writing: string[] }>(
    { verb: 'open', reading, writing },
    signal,
  )
  const files = [...new Set([...opened.reading, ...opened.writing])]
  const { template } = installation
  return {
    got: [
      ...(files.length > 0 ? [filesOfTheHost(files)] : []),
      ...capabilityLoot(field(status, 'CapBnd'), template.capAdd),
      ...(field(status, 'Seccomp') === '0' && template.runtime === null ? [withoutSeccomp] : []),
      ...(field(status, 'NoNewPrivs') === '0' && !template.allowSetuid ? [mayGain] : []),
    ],
    tried: `capabilities, seccomp, ${new Set([...reading, ...writing]).size} files of the host`,
  }
}

const field = (status: string, name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''

function capabilityLoot(bounding: string, capAdd: readonly string[]): Loot[] {
  const bits = BigInt(`0x${bounding || '0'}`)
  const held = Array.from({ length: lastCapability + 1 }, (_, at) => at).filter((at) => (bits >> BigInt(at)) & 1n)
  const more = held.filter((at) => !granted.has(at))
  if (more.length === 0) return []
  const isWanted = more.length <= capAdd.length
  return [
    {
      level: isWanted ? 'warning' : 'critical',
      what: isWanted
        ? `It has more capabilities than Berth grants by itself: ${capAdd.join(', ')} (cap_add of the template).`
        : `It has ${more.length} capabilities more than Berth grants (numbers ${more.join(', ')}).`,
      fix: 'remove cap_add from the template, or use a sandbox: docs/how-to/harden-containers.md',
    },
  ]
}

const filesOfTheHost = (files: readonly string[]): Loot => ({
  level: 'critical',
  what: `It opens files by which it reaches the host: ${files.join(', ')}.`,
  fix: 'look at the engine for privileged defaults; docs/how-to/harden-containers.md',
})

const withoutSeccomp: Loot = {
  level: 'critical',
  what: 'It runs without a seccomp profile, and reaches all system calls of the kernel.',
  fix: 'remove "seccomp-profile": "unconfined" from /etc/docker/daemon.json; then: systemctl restart docker',
}

const mayGain: Loot = {
  level: 'warning',
  what: 'Its programs may gain privileges by setuid, although the template does not allow it.',
  fix: 'look at the engine’s runtime: it ignores no-new-privileges',
}
