import { isPopular, isSlipOf, namesLookAlike, words } from './popular-packages.ts'

/** Official images that people pull most. */
const images: ReadonlySet<string> = new Set(
  words(`
    adminer alpine amazonlinux bash busybox buildpack-deps caddy cassandra centos clickhouse composer consul couchbase
    couchdb debian docker drupal eclipse-temurin elasticsearch erlang etcd fedora flink ghost golang gradle grafana haproxy
    hello-world httpd influxdb jenkins joomla julia kibana kong logstash mariadb maven memcached mongo mongo-express mysql
    nats neo4j nextcloud nginx node odoo openjdk perl phpmyadmin postgres prometheus python rabbitmq redis redmine registry
    rocket.chat ruby rust selenium solr sonarqube swift teamspeak telegraf tomcat traefik ubuntu vault wordpress zookeeper
  `),
)
/** Images of their own whose names differ by one letter from an official one. */
const otherImages: ReadonlySet<string> = new Set(words(`mongod nginxs rustup grafanas prometheus2 mysql5 mysql8`))

/** Whether the last word of a command or a line names an image that passes for an official one. */
export function imageLooksAlike(text: string): boolean {
  const name = /[a-z][\w.-]*$/.exec(text.toLowerCase())?.[0] ?? ''
  return name.length >= 5 && !images.has(name) && !otherImages.has(name) && isSlipOf(name, images)
}

/** Other registries in which people install by name, with the names that they install most. */
const gemsAndCrates: ReadonlySet<string> = new Set(
  words(`
    actionpack activerecord activesupport bundler capistrano capybara devise faker fastlane faraday httparty jekyll kramdown
    nokogiri omniauth rails rspec rubocop sidekiq sinatra webmock actix-web anyhow axum bitflags bytes chrono clap crossbeam
    diesel futures hyper itertools lazy_static nalgebra parking_lot rayon regex reqwest ripgrep rocket rusqlite rustls serde
    serde_json sqlx tauri thiserror tokio tonic tower tracing warp
  `),
)

const otherNames: ReadonlySet<string> = new Set(
  words(`regexp bundle railss future byte clapp rails5 rails6 rails7 tracings trace`),
)

/** Whether a gem or a crate that a command names passes for a popular one. */
export function gemLooksAlike(text: string): boolean {
  const name = /[a-z][\w-]*$/.exec(text.toLowerCase())?.[0] ?? ''
  return name.length >= 5 && !gemsAndCrates.has(name) && !otherNames.has(name) && isSlipOf(name, gemsAndCrates)
}

/**
 * Whether an alias replaces a package by one that passes for a popular one, or a popular package by the newest version of
 * one that is not.
 */
export function aliasLooksAlike(text: string): boolean {
  const { key, target, version } = aliasPattern.exec(text.toLowerCase())?.groups ?? {}
  if (key === undefined || target === undefined) return false
  const isAny = version === undefined || version === '*' || version === 'latest'
  return namesLookAlike(target) || (isAny && isPopular(key) && !target.startsWith('@') && !isPopular(target))
}

const aliasPattern = /^(?<key>[\w@/.-]+)["']?:\s?["']?npm:(?<target>@?[^@\s"']+)(?:@(?<version>.*))?$/
