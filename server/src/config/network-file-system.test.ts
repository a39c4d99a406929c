import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileSystemMagic, networkFileSystem } from './network-file-system.ts'

test('network file systems are known by the type that the kernel reports, others have no name', () => {
  const types = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997]
  assert.deepEqual(types.map(networkFileSystem), ['NFS', 'SMB', 'SMB', 'SMB', '9p'])
  // ext4, btrfs, xfs, tmpfs, overlay, zfs
  for (const type of [0xef53, 0x9123683e, 0x58465342, 0x01021994, 0x794c7630, 0x2fc12fc1])
    assert.equal(networkFileSystem(type), undefined)
})

test('a folder that is not there yet has the file system in which it would be made', () => {
  const type = fileSystemMagic(tmpdir())
  assert.ok(type)
  assert.equal(fileSystemMagic(path.join(tmpdir(), 'berth-none', 'data')), type)
  assert.equal(fileSystemMagic(`${process.execPath}/data`), undefined)
})
