#include "core/training/buckets.h"

namespace shardscope {
namespace {

class Buckets {
 public:
  Buckets(const BucketRule& rule, const ShardGeometry& geometry, std::size_t gradient_bytes)
      : rule_(rule), geometry_(geometry), gradient_bytes_(gradient_bytes) {}

  std::vector<Bucket> make() {
    for (std::size_t tensor = geometry_.tensor_count(); tensor-- > 0;) {
      if (open_ && closes_before(tensor)) {
        close(tensor);
      }
      add(tensor);
      if (closes_with(tensor)) {
        close(tensor);
      }
    }
    if (open_) {
      close(Bucket::kEndOfBackward);
    }
    return std::move(buckets_);
  }

 private:
  Bucket& last() { return buckets_.back(); }

  bool closes_before(std::size_t tensor) {
    return rule_.kind == BucketRule::Kind::closed_before_it &&
           last().count + geometry_.tensor_elements(tensor) > rule_.elements;
  }

  bool closes_with(std::size_t tensor) {
    switch (rule_.kind) {
      case BucketRule::Kind::model:
        return tensor == 0;
      case BucketRule::Kind::layer:
        return tensor == geometry_.first_tensor(geometry_.layer_of_tensor(tensor));
      case BucketRule::Kind::closed_at_size:
        return last().count * gradient_bytes_ >=
               (buckets_.size() == 1 ? rule_.first_bytes : rule_.bytes);
      case BucketRule::Kind::closed_before_it:
        return false;
    }
    return false;
  }

  void add(std::size_t tensor) {
    if (!open_) {
      buckets_.emplace_back();
      last().last_tensor = tensor;
      open_ = true;
    }
    last().first_tensor = tensor;
    last().offset = geometry_.tensor_offset(tensor);
    last().count += geometry_.tensor_elements(tensor);
  }

  void close(std::size_t closed_by) {
    Bucket& bucket = last();
    bucket.layers = {geometry_.layer_of_tensor(bucket.first_tensor),
                     geometry_.layer_of_tensor(bucket.last_tensor)};
    bucket.closed_by = closed_by;
    bucket.oversize =
        rule_.kind == BucketRule::Kind::closed_before_it && bucket.count > rule_.elements;
    open_ = false;
  }

  const BucketRule& rule_;
  const ShardGeometry& geometry_;
  std::size_t gradient_bytes_;
  std::vector<Bucket> buckets_;
  bool open_ = false;
};

}  // namespace

std::vector<Bucket> make_buckets(const BucketRule& rule, const ShardGeometry& geometry,
                                 std::size_t gradient_bytes) {
  return Buckets(rule, geometry, gradient_bytes).make();
}

}  // namespace shardscope
