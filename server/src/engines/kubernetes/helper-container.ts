import type { V1Container } from '@kubernetes/client-node'

/** Capabilities of a program that reads and writes files of all users, and nothing else. */
const fileCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID']

/** A container of the helper image, which has `sh`, `tar`, `stat`, `cat` and `readlink`; root over the files of one home. */
export const helperContainer = (
  name: string,
  image: string,
  script: string,
  volumeMounts: NonNullable<V1Container['volumeMounts']>,
): V1Container => ({
  name,
  image,
  command: ['sh', '-c', script],
  resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '1', memory: '256Mi' } },
  securityContext: {
    runAsUser: 0,
    runAsGroup: 0,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], add: fileCapabilities },
  },
  volumeMounts,
})

/**
 * Waits until a condition of the shell holds, and ends with 1 when no command has run in this container for so long: then the
 * process that made it has died. What it sees before any command is none: itself, and in a pod whose containers share their processes
 * the pause container. @param idle seconds
 */
export const waitingScript = (condition: string, idle: number): string =>
  [
    'n=0; set -- /proc/[0-9]*; own=$#',
    `until ${condition}; do`,
    '  sleep 0.5; set -- /proc/[0-9]*',
    '  if [ $# -gt $own ]; then n=0; else own=$# n=$((n + 1)); fi',
    `  [ $n -lt ${idle * 2} ] || exit 1`,
    'done',
  ].join('\n')

/** Unpacks `framed` input in a folder, with owners and modes. */
export const unpack = (folder: string): readonly string[] => ['sh', '-c', unpackScript, 'sh', folder]

/**
 * The protocol of commands cannot close their input, and `tar` reads to the end of it, so the archive comes in pieces, each with
 * its length before it; a length of 0 ends it. `read` takes no byte more than its line, and `dd` none more than its block.
 */
const unpackScript = [
  'while read -r n && [ "$n" -gt 0 ]; do',
  '  dd bs="$n" count=1 iflag=fullblock 2>/dev/null || exit 1',
  'done | tar -x -p --numeric-owner -C "$1" -f -',
].join('\n')

/** Packs all that is in a folder. */
export const pack = (folder: string): readonly string[] => [
  'tar',
  '-c',
  '--numeric-owner',
  '-C',
  folder,
  '-f',
  '-',
  '.',
]

/** Bytes of a piece: each costs a process. */
const pieceSize = 1024 * 1024

/** An archive in the pieces that `unpack` reads. */
export async function* framed(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let length = 0
  const piece = () => {
    const bytes = Buffer.concat([Buffer.from(`${length}\n`), ...parts])
    parts = []
    length = 0
    return bytes
  }
  for await (const bytes of archive)
    for (let at = 0; at < bytes.length; at += pieceSize) {
      const part = bytes.subarray(at, at + pieceSize)
      if (length > 0 && length + part.length > pieceSize) yield piece()
      parts.push(part)
      length += part.length
    }
  if (length > 0) yield piece()
  yield Buffer.from('0\n')
}
