import { endpoint, type Endpoint } from '../endpoint.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'
import * as ssh from '../schemas/ssh.ts'

/** SSH into one's own containers. No takeover and no API token adds or removes a key. */
export const sshEndpoints = {
  sshServer: endpoint('GET /api/ssh', 'public', {
    summary: 'Address and host keys of the SSH server; 404 without `SSH_LISTEN`',
    response: ssh.SshServerResponse,
    refusals: { 404: ErrorBody },
  }),
  listSshKeys: endpoint('GET /api/user/ssh-keys', 'user', {
    guarded: true,
    summary: 'Public keys for SSH of the signed-in user',
    response: ssh.SshKeysResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  addSshKey: endpoint('POST /api/user/ssh-keys', 'user', {
    needsSession: true,
    summary: 'Add a public key for SSH; the mail address of the account is told of it',
    body: ssh.SshKeyBody,
    response: ssh.SshKey,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  removeSshKey: endpoint('DELETE /api/user/ssh-keys/{id}', 'user', {
    summary: 'Remove a public key for SSH; its sessions are ended',
    params: ssh.SshKeyParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  sshConfig: endpoint('GET /api/user/ssh-config', 'containers:read', {
    guarded: true,
    summary: 'Text for `~/.ssh/config`, with an entry for each type of the signed-in user; 404 without `SSH_LISTEN`',
    file: 'text/plain; charset=utf-8',
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
