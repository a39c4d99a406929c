/** When an action is recorded and what its entry holds: a row of docs/reference/audit-actions.md. */
interface ActionDescription {
  readonly when: string
  /** Keys or facts in `detail` beside the network address of the request. */
  readonly detail: string
}

/** Every action of the audit log. An entry with another action does not compile. */
export const auditActions = {
  'container.block': { when: 'a container was blocked', detail: 'owner, type, the block before and after' },
  'container.unblock': { when: 'a container was unblocked', detail: 'owner, type, the block before and after' },
  'container.delete': {
    when: 'a container and its record were deleted',
    detail: 'owner, type, whether the home was deleted too, the deleted record',
  },
  'container.share': {
    when: 'an owner shared a container, or changed the terms of a share',
    detail:
      'type, `port`: the further port that it opens alone, `with`: address or group, `may`: look or use, `until`, `asked_in`: the group whose manager had asked',
  },
  'container.unshare': {
    when: 'a share was ended by its owner, an administrator or the operator. One whose time is over has no such entry, nor has a look that ends with a membership or a group',
    detail: 'as `container.share`',
  },
  'container.stop': {
    when: 'an administrator or the operator stopped a container without blocking it',
    detail: 'owner, type',
  },
  'container.stop-at-limit': {
    when: 'Berth stopped a container that had written as much outside of its home as `layer_size` allows; the actor is `Berth`',
    detail: 'owner, type, `used` and `limit` in bytes',
  },
  'container.restart': {
    when: 'an administrator replaced a container with a new one',
    detail: 'owner, type',
  },
  'container.read-logs': {
    when: 'an administrator read what the program of a container wrote',
    detail: 'owner, type',
  },
  'home.download': { when: 'an owner began to download a snapshot of a home', detail: 'owner, type, `snapshot`' },
  'home.read-file': { when: 'an owner began to download a file or folder of a home', detail: 'owner, type, `path`' },
  'home.remove-file': {
    when: 'a file or folder of a home was deleted from outside of its container',
    detail: 'owner, type, `path`, and `acting`: the administrator, in a takeover',
  },
  'home.upload': {
    when: 'an archive was unpacked into a home',
    detail: 'owner, type, `folder`, and `acting`: the administrator, in a takeover',
  },
  'home.reset': {
    when: 'a home was removed, after a snapshot of it',
    detail: 'owner, type, `snapshot`, `unfinished` (1) when the home is removed later only, and `acting` likewise',
  },
  'home.snapshot': { when: 'the operator made a snapshot of a home', detail: 'owner, type, `snapshot`' },
  'home.restore': {
    when: 'the operator restored a snapshot, or a part of it, into a new folder of its home',
    detail: 'owner, type, `snapshot`, `folder`',
  },
  'home.remove-former': { when: 'an owner removed a home that no type has any more', detail: 'owner, type' },
  'home.change-owner': {
    when: 'the operator gave a home to another account of its container',
    detail: 'owner, type, `from` and `to` as `uid:gid`, `changed`: files and folders',
  },
  'home.remove-snapshot': { when: 'the operator removed a snapshot', detail: 'owner, type, `snapshot`' },
  'user.block': {
    when: 'an account was blocked, with its containers',
    detail: 'the containers that were blocked with it',
  },
  'user.unblock': {
    when: 'an account was unblocked, with the containers of the cascade',
    detail: 'the containers that were unblocked with it',
  },
  'user.delete': {
    when: 'an account was deleted',
    detail: 'slug, containers, whether homes are kept, the deleted account with its e-mail address',
  },
  'user.promote': {
    when: 'a user became an administrator, by an administrator or by `admin_groups` of a provider',
    detail: '`is_admin` before and after',
  },
  'user.demote': {
    when: 'an administrator became an ordinary user, likewise',
    detail: '`is_admin` before and after',
  },
  'user.extra-disk': {
    when: 'an administrator changed what the homes of a user may have beyond the disk limits',
    detail: '`bytes` before and after',
  },
  'user.takeover': { when: 'an administrator started to act for a user', detail: 'reason, `until`' },
  'user.end-takeover': {
    when: 'a takeover ended before its `until`: the administrator ended it, signed out or signed in again, or its owner ended that session. A takeover that expires has no such entry',
    detail: '`acting`: the administrator, if the owner ended it',
  },
  'user.invite': { when: 'an invitation was issued', detail: 'whether it was mailed' },
  'user.invite-failed': { when: 'the mail of an invitation was not accepted; its link is void', detail: '' },
  'user.export': { when: 'the operator exported what is kept about a user', detail: '' },
  'user.resend-verification': { when: 'a new signup link was issued', detail: '' },
  'user.resend-verification-failed': { when: 'its mail was not accepted; the link is void', detail: '' },
  'group.create': {
    when: 'an administrator made a group, or a sign-in at a provider whose claim named it',
    detail: 'the group',
  },
  'group.change': { when: 'an administrator changed a group', detail: 'what changed, before and after' },
  'group.delete': { when: 'an administrator deleted a group', detail: 'the group' },
  'group.add-member': {
    when: 'a user became a member, or got another role: by a manager, an administrator or a provider',
    detail: '`user`, role before and after, source',
  },
  'group.remove-member': {
    when: 'a membership ended: by a manager, an administrator or a provider. The deletion of an account has no such entry',
    detail: '`user`, the role before',
  },
  'group.invite': {
    when: 'an address without an account was invited to a group',
    detail: 'the address, the role, the account that was made',
  },
  'group.invite-failed': { when: 'its mail was not accepted; the invitation is void', detail: 'the address' },
  'group.preview-members': {
    when: 'a manager asked what adding addresses would do, which tells who has an account',
    detail: '`addresses`: how many, never which',
  },
  'group.withdraw-invitation': { when: 'an invitation to a group was withdrawn', detail: 'the address, the role' },
  'group.join': {
    when: 'a user became a member by a join code, or by signing up after an invitation',
    detail: '`user`, the role, and who invited',
  },
  'group.create-join-code': {
    when: 'a join code was made, which replaces the one before',
    detail: 'its end, never the code',
  },
  'group.delete-join-code': { when: 'the join code of a group was removed', detail: '' },
  'group.start': {
    when: 'a manager started the containers of a type of all members',
    detail: 'the containers, a page of members in each entry',
  },
  'group.restart-container': {
    when: "a manager replaced a member's container with a new one",
    detail: '`user`, `type`',
  },
  'group.read-failure': {
    when: "a manager read why the start of a member's container failed, with the last lines of its output",
    detail: '`user`, `type`',
  },
  'group.ask-to-look': {
    when: 'a manager asked a member to let them look at a container. The agreement is a `container.share`',
    detail: '`user`: the member, `type`',
  },
  'group.decline-look': {
    when: 'a member declined; the actor is the member',
    detail: '`user`: the manager who asked, `type`',
  },
  'environment.create': { when: 'an environment was made', detail: '`description`, `source`, `group_id`' },
  'environment.change': { when: 'an environment was changed', detail: 'as `environment.create`, as it is now' },
  'environment.delete': { when: 'an environment was deleted', detail: 'as `environment.create`, as it was' },
  'environment.build': { when: 'a build of a version was requested', detail: '`version`, `source`' },
  'environment.cancel': { when: 'a build was cancelled', detail: '`version`' },
  'environment.publish': {
    when: 'another version of an environment was published, an older one included',
    detail: '`published` before and after',
  },
  'environment.try': {
    when: 'a version of an environment was launched for the person who asked, to try it',
    detail: '`version`, `type`',
  },
  'group.end': { when: 'a manager ended a group', detail: 'its end before and after' },
  'group.end-term': {
    when: 'an administrator began an end of term of a group',
    detail: '`members`, `removes_accounts`, `remove_at`, `keep_until`. What it removes has entries of its own',
  },
  'group.cancel-term-end': { when: 'it was cancelled before its removal', detail: 'the end of the group since then' },
  'group.retry-term-end': {
    when: 'an administrator had it go on, and answers for the rest',
    detail: '`failed`: members for whom it had failed',
  },
  'group.delete-archives': {
    when: 'an administrator deleted the archives of a member before their date',
    detail: '`user`, `types`',
  },
  'group.remove-homes': {
    when: 'an end of term removed homes without a container',
    detail: '`user`, `types`',
  },
  'user.download-archive': {
    when: 'the holder of a mailed link downloaded an archive of a home',
    detail: '`type`, `group`; the target is the user, who may be deleted',
  },
  'group.set-folder': {
    when: 'a group got a folder, or its name or the rights of members were changed',
    detail: 'the folder before and after',
  },
  'group.remove-folder': {
    when: 'the folder of a group was taken away',
    detail: 'the folder; `purge` says whether what is in it is removed',
  },
  'group.set-timetable': { when: 'the hours of a group were changed', detail: 'the timetable before and after' },
  'group.stop': {
    when: "the containers of a group's members were stopped",
    detail: 'the containers, a page of members in each entry',
  },
  'group.block': {
    when: "the containers of a group's members were blocked",
    detail: 'the containers, a page of members in each entry',
  },
  'group.unblock': {
    when: 'what the block of a group had blocked was released, also because the group was deleted',
    detail:
      'the containers, a page of them in each entry; under `still_blocked` those that another group, or the block of their owner, keeps blocked',
  },
  'token.create': {
    when: 'a user made an API token, or the operator made one for an account',
    detail: 'number, name, scopes and end of the token, never the token',
  },
  'token.use': {
    when: 'an API token was used for the first time, or after seven days without use',
    detail: 'as `token.create`; the actor is its owner',
  },
  'ssh.add-key': {
    when: 'a user added a public key for SSH',
    detail: '`key`: its number, `title`, `fingerprint`',
  },
  'ssh.remove-key': { when: 'a user removed a public key for SSH', detail: 'as `ssh.add-key`' },
  'ssh.session': {
    when: 'a user signed in over SSH',
    detail: 'owner, type, `key`: number of the key, `title` and `fingerprint` of it',
  },
  'token.remove': {
    when: 'an API token was removed by its owner, an administrator or the operator, or by the first sign-in at a provider after an invitation without a mail. A block, a deletion and, for `admin:`, a demotion remove tokens without such an entry',
    detail: 'as `token.create`',
  },
  'keys.rotate': {
    when: 'the operator created a new signing key',
    detail: 'names of the keys, never a key',
  },
  'templates.update': {
    when: 'containers of an older version of a template were to be brought up to date',
    detail: 'the type, the mode (`when_stopped`, `ask`, `now`), the number of containers',
  },
  'templates.reload': { when: 'the templates were read again while Berth ran', detail: 'the types since then' },
  'link.print': { when: 'the operator printed a link instead of mailing it', detail: 'its purpose, never the link' },
} as const satisfies Readonly<Record<string, ActionDescription>>

/** What was done to what, e.g. `user.block`. */
export type AuditAction = keyof typeof auditActions
