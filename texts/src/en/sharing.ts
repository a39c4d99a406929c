/** What is said of shared containers: refusals, answers and warnings. */
export const sharing = {
  off: 'Containers cannot be shared in this way here: the operator has not switched it on.',
  badEnd: 'The end must be in the future, and at most {hours, plural, one {# hour} other {# hours}} from now.',
  ownAddress: 'This is your own address. Enter the addresses of others.',
  withNoOne: 'Enter at least one address, or choose a group.',
  tooMany: 'A container can be shared at most {max} times. End a share first.',
  openAnyway: 'Others may open containers of this type anyway, so there is nothing to share.',
  closedPort: 'Port {port} of this container has no address, so it cannot be shared. Choose one that its type allows.',
  fullToken: 'The app of this container has your own token, which visitors could take, so it cannot be shared.',
  shared: 'The container is shared.',
  ended: 'The share has ended; what visitors had open is closed.',
  lookByManagers:
    'Only managers of this group may ask to look. Administrators make themselves managers first, which the audit log notes.',
  askedTooOften:
    'You cannot ask this member now: they declined, or you have asked several times. Try again in {minutes, plural, one {# minute} other {# minutes}}, or talk to them.',
  ownContainer: 'This is your own container.',
  blockedContainer: 'The account or the container is blocked, so it cannot be looked at.',
  asked: '{email} was asked. It opens when they agree.',
  agreed: '{email} may look at it now.',
  declined: 'You declined. They cannot ask again for a while.',
  sandboxed:
    'Containers of {types} can be shared, and have no hosts of their own: visitors get their pages in a sandbox in which only single pages work. Set CONTAINER_ROUTING=subdomain, or sandbox_visitors: false for users who trust each other.',
} as const
