// For strip_prefix: false.
module.exports = { httpAdminRoot: process.env.BASE_PATH, httpNodeRoot: process.env.BASE_PATH }
