import path from 'node:path'
import { crc32 } from 'node:zlib'
import type { FileSetBuilder } from './file-set.ts'
import { addFolder, type Found } from './read-folder.ts'

/** How the name of a folder of the catalogue ends that comes into homes as one file. */
const ending = '.vsix'

/**
 * Reads files of the catalogue that were listed. A folder whose name ends with `.vsix` becomes a package as VS Code installs it: a
 * ZIP archive with the files of the extension below `extension/`, so that the catalogue has them as text.
 * @param roots as of `addFolder` @throws {StarterFilesError}
 */
export async function addCatalogueFiles(
  builder: FileSetBuilder,
  found: readonly Found[],
  roots: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const packages = found.filter(({ name, isFolder }) => isFolder && name.endsWith(ending))
  const isPacked = ({ name }: Found) => packages.some((each) => name === each.name || name.startsWith(`${each.name}/`))
  const others = found.filter((each) => !isPacked(each))
  await addFolder(builder, others, roots, signal)
  for (const { name, mtime } of packages) {
    const files = found.filter((each) => each.name.startsWith(`${name}/`) && !each.isFolder)
    const members: Member[] = []
    const collected = {
      addFolder: () => {},
      addFile: async (file: string, _mode: number, _mtime: Date, content: AsyncIterable<Uint8Array>) => {
        const parts: Uint8Array[] = []
        for await (const bytes of content) parts.push(bytes)
        members.push({
          name: path.posix.join('extension', path.posix.relative(name, file)),
          content: Buffer.concat(parts),
        })
      },
    }
    await addFolder(collected, files, roots, signal)
    const archive = zipOf(members)
    await builder.addFile(
      name,
      0o644,
      mtime,
      (async function* () {
        yield archive
      })(),
    )
  }
}

interface Member {
  readonly name: string
  readonly content: Buffer
}

/** 1 January 1980, the first day that a ZIP archive can name: the same files make the same archive. */
const [noTime, firstDay] = [0, 0x21]
const [localHeader, centralHeader, endOfArchive] = [0x04034b50, 0x02014b50, 0x06054b50]
/** 2.0, the lowest version of the format that a reader has to know. */
const version = 20

/** A ZIP archive, without compression. Source: PKWARE's APPNOTE.TXT 6.3, 4.3.7, 4.3.12 and 4.3.16. */
function zipOf(members: readonly Member[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content } of members) {
    const bytes = Buffer.from(name)
    // Flags and method are 0: stored as it is.
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(version, 0)
    shared.writeUInt16LE(noTime, 6)
    shared.writeUInt16LE(firstDay, 8)
    shared.writeUInt32LE(crc32(content), 10)
    shared.writeUInt32LE(content.length, 14)
    shared.writeUInt32LE(content.length, 18)
    shared.writeUInt16LE(bytes.length, 22)
    const local = [signature(localHeader), shared, bytes, content]
    const attributes = Buffer.alloc(14)
    attributes.writeUInt32LE(at, 10)
    directory.push(signature(centralHeader), uint16(version), shared, attributes, bytes)
    parts.push(...local)
    at += local.reduce((sum, each) => sum + each.length, 0)
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(members.length, 4)
  end.writeUInt16LE(members.length, 6)
  end.writeUInt32LE(index.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...parts, index, signature(endOfArchive), end])
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}
