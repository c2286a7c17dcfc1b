import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'
import { isPopular, isSlipOf, namesLookAlike } from './popular-packages.ts'
import { words } from './shapes.ts'

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

const options = regex`( -{1,2}[\w-]{1,20}([= ](?!-)["']?[\w./:$\{}~@,=-]{1,60}["']?)??){0,8}?`

/** Container images whose names differ from an official one by a typing error. */
const lookAlikeImages: readonly Pattern[] = [
  {
    anchors: ['docker ', 'podman ', 'nerdctl '],
    match: regex`\b(docker|podman|nerdctl)( (image|container))? (run|pull|create)${options} ([\w.-]{1,40}(:\d{2,5})?/){0,3}
      [a-z][\w.-]{3,40}(?=[:@\s]|$)`,
    isMeant: imageLooksAlike,
  },
  {
    anchors: ['from ', 'image: '],
    match: regex`(?<=^|\n)(\s{0,6}image: |from )["']?([\w.-]{1,40}(:\d{2,5})?/){0,3}[a-z][\w.-]{3,40}(?=:[\w.-]{1,40}|@sha|
      \n| as )`,
    isMeant: imageLooksAlike,
  },
]

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

/** Names in prose, and of other kinds of packages. */
export const lookAlikeNames: readonly Pattern[] = [
  ...lookAlikeImages,
  {
    anchors: ['gem install', 'bundle add', 'cargo add', 'cargo install'],
    match: regex`\b(gem install|bundle add|cargo (add|install)) [a-z][\w-]{4,40}`,
    isMeant: gemLooksAlike,
  },
  {
    anchors: ['package', 'module ', 'library ', 'from pypi', 'from npm', 'dependency '],
    match: regex`(?<=\b(install|add|require|use|import|need)s? ({word} ){0,3}(packages?|modules?|librar(y|ies)|dependenc(y|ies))
      ( called| named)? )@?[a-z][\w.-]{4,40}(/[\w.-]{2,40})?|
      \b(?<=\b(install|add|need)s? )@?[a-z][\w.-]{4,40}(/[\w.-]{2,40})?(?= from (pypi|npm|the npm registry)\b)`,
    isMeant: namesLookAlike,
  },
  {
    anchors: ['npm:'],
    match: regex`[\w@/.-]{1,60}["']?:\s?["']?npm:@?[a-z][\w.-]{1,40}(/[\w.-]{2,40})?(@[\w.^~*-]{1,20})?`,
    isMeant: aliasLooksAlike,
  },
  containing(
    '.io.|.com.|.org.|.io-|.com-|.org-',
  )`(?<![\w.@-])(ghcr|docker|quay|gcr|registry\.hub\.docker|registry\.npmjs|npmjs|pypi|
    files\.pythonhosted|github|raw\.githubusercontent|gitlab|rubygems|crates|huggingface|anthropic|openai)\.(io|com|org|co)[.-]
    (?!cn\b|cnpmjs|com?\b|mirror|local|internal|svc|docker)[\w-]{2,40}\.[a-z]{2,8}(?=[/:\s]|$)`,
]
