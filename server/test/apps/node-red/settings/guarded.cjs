// With the editor's own sign-in, whose token travels in an Authorization header.
const { hashSync } = require('@node-rs/bcrypt')

module.exports = {
  adminAuth: {
    type: 'credentials',
    users: [{ username: 'ann', password: hashSync('anchor', 8), permissions: '*' }],
  },
}
