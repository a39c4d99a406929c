import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingOf } from './check-mounts.ts'

const disk = '29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw'
const inContainer = (device: string, root: string, system: string) =>
  `700 650 ${device} ${root} /home/berth rw,relatime - ${system}`

test('a folder of a disk is found by its path in the file system, with the one of another name missing', () => {
  const theirs = inContainer('254:0', '/srv/homes/ann\\040b', 'ext4 /dev/vda rw')
  assert.equal(missingOf(['/srv/homes/ann b'], disk, theirs), null)
  assert.equal(missingOf(['/srv/homes/ben'], disk, theirs), '/srv/homes/ben')
  assert.equal(missingOf(['/srv/homes/ann b', '/srv/homes/ann b'], disk, theirs), '/srv/homes/ann b')
})

// The lines are those of Debian 13, with homes on a server of NFS that the kernel mounted: it writes `/` as the root of each, so that
// every launch of such a home was taken for one with something else in its place.
test('a folder of a file server that the kernel mounted is found by what the server calls it', () => {
  const server = '198.51.100.2:/var/exported/homes'
  const own = `${disk}\n462 29 0:87 / /nfs/homes rw,relatime shared:309 - nfs4 ${server} rw,vers=4.2,hard,proto=tcp`
  const theirs = (folder: string) => inContainer('0:87', '/', `nfs4 ${server}/${folder} rw,vers=4.2,hard,proto=tcp`)
  assert.equal(missingOf(['/nfs/homes/people/ann'], own, theirs('people/ann')), null)
  assert.equal(missingOf(['/nfs/homes/people/ann'], own, theirs('people/ben')), '/nfs/homes/people/ann')
  assert.equal(missingOf(['/nfs/homes'], own, inContainer('0:87', '/', `nfs4 ${server} rw`)), null)
  // Without the server mounted any more it would be a folder of the disk.
  assert.equal(missingOf(['/nfs/homes/people/ann'], disk, theirs('people/ann')), '/nfs/homes/people/ann')
})
